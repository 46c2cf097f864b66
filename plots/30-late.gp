# alt: Two warpgroups and the tensor cores over the time of two tiles, in rung c and in rung d. In c both warpgroups compute scores, then both compute their softmax, and the tensor cores have nothing; then they meet, and both want dV, dK and dQ. In d one warpgroup computes its softmax while the other has the tensor cores, and dQ is that of the tile before, so nobody waits. The same work takes less time.
# data: none
drawing = 292
load 'plots/style.gp'
X = 66
U = 18.0
# A part of a warpgroup's time: its start, its length in units, its work.
piece(x, y, n, fill, edge, text) = box(X + x * U, y, n * U - 1.5, 22, fill, edge) . '; ' . say(X + (x + n / 2.0) * U, y + 11, 'center', edge, text)
eval say(10, 14, 'left', INK, '{/:Bold c}  groups meet in each tile')
do for [g = 0:1] {
    y = 30 + g * 28
    eval say(X - 8, y + 11, 'right', INK, sprintf('group %d', g))
    do for [i = 0:1] {
        eval piece(8 * i, y, 2, FAINT, GOOD, 'S dP')
        eval piece(8 * i + 2, y, 2.5, PANEL, ORANGE, 'softmax')
        eval piece(8 * i + 4.5, y, 3.5, FAINT, GOOD, 'dQ dV dK')
    }
}
eval say(X - 8, 97, 'right', SOFT, 'tensor')
do for [i = 0:1] {
    eval box(X + 8 * i * U, 90, 2.9 * U, 14, GOOD, GOOD)
    eval box(X + (8 * i + 4.5) * U, 90, 3.5 * U - 1.5, 14, GOOD, GOOD)
    eval line(X + (8 * i + 4.5) * U - 1, 28, X + (8 * i + 4.5) * U - 1, 82, BAD)
}
eval say(X + 4.4 * U, 118, 'center', BAD, 'all wait for dS')
eval say(10, 152, 'left', INK, '{/:Bold d}  dQ of the tile before')
do for [g = 0:1] {
    y = 168 + g * 28
    eval say(X - 8, y + 11, 'right', INK, sprintf('group %d', g))
    do for [i = 0:2] {
        x = 6 * i + g * 3
        if (x < 13) {
            eval piece(x, y, 1.9, FAINT, GOOD, 'S dP')
            eval piece(x + 1.9, y, 2.4, PANEL, ORANGE, 'softmax')
            eval piece(x + 4.3, y, 1.7, FAINT, GOOD, 'dx')
        }
    }
}
eval say(X - 8, 235, 'right', SOFT, 'tensor')
eval box(X, 228, 18 * U - 1.5, 14, GOOD, GOOD)
eval arrow(X + 4.3 * U, 256, X + 10.3 * U, 256, PURPLE)
eval say(X + 10.6 * U, 256, 'left', PURPLE, 'time for dS')
eval say(10, 280, 'left', SOFT, 'Not to scale. dx: dQ of the tile before, dV, dK of this one.')
plot NaN notitle
