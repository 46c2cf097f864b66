# alt: Left, a fragment of dQ, 16 rows of 8 elements. Lane 5 has four of them: two neighbours in row 1 and two in row 9. Element 0 of all 32 lanes is shaded: every second element of rows 0 to 7. Right above, the memory of the scalar kernel, rows one below the other: one atomicAdd of the warp touches eight rows, and in each every second float of 32 bytes, eight wavefronts for 32 floats. Right below, the memory of the vector kernel: lane after lane, four floats each, four lines of 128 bytes; one red.v4 of the warp adds to all of them, four wavefronts for 128 floats.
# data: none
drawing = 340
load 'plots/style.gp'
C = 13
X = 40
Y = 46
eval say(X + 4 * C, 12, 'center', INK, '{/:Bold a fragment of dQ}')
eval say(X + 4 * C, 30, 'center', SOFT, '8 dimensions')
do for [r = 0:15] {
    do for [c = 0:7] {
        mine = (r == 1 || r == 9) && (c == 2 || c == 3)
        eval box(X + c * C, Y + r * C, C, C, r < 8 && c % 2 == 0 ? FAINT : PANEL, GRID)
        if (mine) { eval say(X + (c + 0.5) * C, Y + (r + 0.5) * C, 'center', ORANGE, sprintf('{/:Bold %d}', c - 2 + (r > 8 ? 2 : 0))) }
    }
    if (r % 8 < 2) { eval say(X - 6, Y + (r + 0.5) * C, 'right', SOFT, sprintf('%d', r)) }
}
do for [k = 0:1] {
    y = Y + (1 + 8 * k) * C
    eval line(X + 2 * C, y, X + 4 * C, y, ORANGE)
    eval line(X + 2 * C, y + C, X + 4 * C, y + C, ORANGE)
    eval line(X + 2 * C, y, X + 2 * C, y + C, ORANGE)
    eval line(X + 4 * C, y, X + 4 * C, y + C, ORANGE)
}
eval say(X - 6, Y + 5.5 * C, 'right', SOFT, 'rows')
eval say(10, Y + 17 * C, 'left', ORANGE, '0 to 3: elements of lane 5')
eval say(10, Y + 19.6 * C, 'left', GOOD, 'shaded: element 0 of all lanes')
MX = 190
W = 6
eval say(MX, 12, 'left', INK, '{/:Bold scalar: laid out as dQ}')
do for [r = 0:7] {
    y = 26 + r * 10
    do for [c = 0:7] { eval box(MX + c * W, y, W, 8, c % 2 == 0 ? FAINT : PANEL, GRID) }
    eval line(MX + 8 * W + 3, y + 4, MX + 32 * W, y + 4, GRID)
    if (r == 1) { eval box(MX + 2 * W, y, W, 8, ORANGE, ORANGE) }
}
eval say(MX, 122, 'left', INK, 'one atomicAdd: 32 floats in 8 lines')
eval say(MX, 140, 'left', GOOD, '8 wavefronts')
eval say(MX, 176, 'left', INK, '{/:Bold vector: lane after lane}')
do for [r = 0:3] {
    y = 190 + r * 14
    do for [c = 0:31] { eval box(MX + c * W, y, W, 10, FAINT, GRID) }
    do for [l = 0:8] { eval line(MX + l * 4 * W, y, MX + l * 4 * W, y + 10, SOFT) }
}
do for [c = 20:23] { eval box(MX + c * W, 190, W, 10, ORANGE, PANEL) }
eval say(MX, 262, 'left', INK, 'one red.v4: 128 floats in 4 lines')
eval say(MX, 280, 'left', GOOD, '4 wavefronts')
eval say(10, 328, 'left', SOFT, 'A line has 128 bytes; a row of the sums has 256 or 512.')
plot NaN notitle
