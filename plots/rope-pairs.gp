# alt: Above, the six elements of a head vector, 0 to 5, with R = 4. A line joins 0 with 2, which is pair 0, and another 1 with 3, which is pair 1. Elements 4 and 5 are not rotated. Below, each pair as an arrow in a circle, at positions 0, 1 and 2. The arrow of pair 0 moves by one radian per position, that of pair 1 by a hundredth of one, so that its three arrows nearly coincide.
# data: none
drawing = 306
load 'plots/style.gp'
W = 34
X = 98
Y = 40
do for [d = 0:5] {
    eval box(X + d * W, Y, W, 24, d < 4 ? FAINT : PANEL, d < 4 ? (d % 2 == 0 ? GOOD : ORANGE) : SOFT)
    eval say(X + (d + 0.5) * W, Y + 12, 'center', d < 4 ? (d % 2 == 0 ? GOOD : ORANGE) : SOFT, sprintf('x[%d]', d))
}
eval line(X + 0.5 * W, Y, X + 0.5 * W, Y - 12, GOOD)
eval line(X + 0.5 * W, Y - 12, X + 2.5 * W, Y - 12, GOOD)
eval line(X + 2.5 * W, Y - 12, X + 2.5 * W, Y, GOOD)
eval say(X + 0.5 * W - 4, Y - 22, 'left', GOOD, 'pair 0')
eval line(X + 1.5 * W, Y + 24, X + 1.5 * W, Y + 36, ORANGE)
eval line(X + 1.5 * W, Y + 36, X + 3.5 * W, Y + 36, ORANGE)
eval line(X + 3.5 * W, Y + 36, X + 3.5 * W, Y + 24, ORANGE)
eval say(X + 1.5 * W - 4, Y + 47, 'left', ORANGE, 'pair 1')
eval say(X + 4.2 * W, Y + 38, 'left', SOFT, 'not rotated')
eval say(X - 8, Y + 12, 'right', INK, 'D = 6, R = 4')
RADIUS = 62
do for [n = 0:1] {
    cx = 104 + n * 196
    cy = 192
    colour = n == 0 ? GOOD : ORANGE
    theta = n == 0 ? 1.0 : 0.01
    set object 900 + n circle at cx, cy size RADIUS fc rgb GRID fs empty border lc rgb GRID
    eval line(cx - RADIUS - 8, cy, cx + RADIUS + 8, cy, GRID)
    eval line(cx, cy - RADIUS - 8, cx, cy + RADIUS + 8, GRID)
    do for [p = 0:2] {
        eval arrow(cx, cy, cx + RADIUS * cos(p * theta), cy - RADIUS * sin(p * theta), colour)
        if (n == 0) {
            eval say(cx + (RADIUS + 14) * cos(p * theta), cy - (RADIUS + 12) * sin(p * theta) - (p == 0 ? 10 : 0), 'center', INK, sprintf('%d', p))
        }
    }
    if (n == 1) {
        eval say(cx + RADIUS - 2, cy - 12, 'right', INK, '0, 1, 2')
    }
    eval say(cx, cy + RADIUS + 22, 'center', colour, sprintf('pair %d: %g radian', n, theta))
    eval say(cx, cy + RADIUS + 38, 'center', colour, 'per position')
}
plot NaN notitle
