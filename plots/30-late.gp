# alt: Two warpgroups and the tensor cores over time, in the producer kernel and in the late kernel. In the producer kernel both warpgroups compute scores and dP, then both compute P and dS, while the tensor cores have nothing to do; then they meet, and both compute dQ, dV and dK. In the late kernel one warpgroup computes P and dS while the other has the tensor cores, and they are never idle. An arrow shows dS of warpgroup 1, stored behind its own computation and read by warpgroup 0 half a tile's time later.
# data: none
drawing = 300
load 'plots/style.gp'
X = 92
U = 20.0
# A part of a warpgroup's time: its start, its length in units, its work.
part(x, y, n, fill, edge, text) = box(X + x * U, y, n * U - 1.5, 22, fill, edge) . '; ' . say(X + (x + n / 2.0) * U, y + 11, 'center', edge, text)
eval say(10, 14, 'left', INK, '{/:Bold producer kernel}  red line: both meetings of a tile')
do for [g = 0:1] {
    y = 30 + g * 28
    eval say(X - 8, y + 11, 'right', INK, sprintf('warpgroup %d', g))
    do for [i = 0:1] {
        eval part(7.5 * i, y, 2, FAINT, GOOD, 'S dP')
        eval part(7.5 * i + 2, y, 2.5, PANEL, ORANGE, 'P, dS')
        eval part(7.5 * i + 4.5, y, 3, FAINT, GOOD, 'dQ dV dK')
    }
}
eval say(X - 8, 97, 'right', SOFT, 'tensor cores')
do for [i = 0:1] {
    eval box(X + 7.5 * i * U, 90, 2.5 * U, 14, GOOD, GOOD)
    eval box(X + (7.5 * i + 4.5) * U, 90, 3 * U - 1.5, 14, GOOD, GOOD)
    eval line(X + (7.5 * i + 4.5) * U - 1, 28, X + (7.5 * i + 4.5) * U - 1, 82, BAD)
}
eval say(X + 4.5 * U, 118, 'center', BAD, 'both wait for dS')
eval say(10, 152, 'left', INK, '{/:Bold late kernel}  dQ of the tile before')
do for [g = 0:1] {
    y = 168 + g * 44
    eval say(X - 8, y + 11, 'right', INK, sprintf('warpgroup %d', g))
    do for [i = 0:2] {
        eval part(5 * i + (g ? 0 : 2.5), y, 2.5, PANEL, ORANGE, sprintf('P, dS %d', i + (g ? 1 : 2)))
        eval part(5 * i + (g ? 2.5 : 0), y, 2.5, FAINT, GOOD, sprintf('mma %d', i + 1))
    }
}
eval arrow(X + 7.5 * U - 1, 212, X + 10 * U, 192, PURPLE)
eval say(X + 7.5 * U + 10, 201, 'right', PURPLE, 'dS 2')
eval say(X - 8, 253, 'right', SOFT, 'tensor cores')
eval box(X, 246, 15 * U - 1.5, 14, GOOD, GOOD)
eval say(10, 276, 'left', SOFT, 'Not to scale. mma 2 is dQ of tile 1, dV and dK of tile 2,')
eval say(10, 291, 'left', SOFT, 'and S and dP of tile 3.')
plot NaN notitle
