# alt: Two warpgroups on the units of a multiprocessor, over the time of two tiles each. Above, in the one-role kernel: first both warpgroups have scores, then both compute their softmax, then both have values, so the tensor cores and the special-function units are busy in turn. Below, shifted: while warpgroup 0 has products, warpgroup 1 computes its softmax, and the other way round; both units are busy all the time, and the same work takes half as long.
# data: none
drawing = 250
load 'plots/style.gp'
U = 19.0
X = 92
tile(x, y, n, colour, text) = box(X + x * U, y, n * U, 24, colour, SOFT) . '; ' . say(X + (x + n / 2.0) * U, y + 12, 'center', INK, text)
do for [p = 0:1] {
    Y = p ? 142 : 30
    eval say(8, Y - 16, 'left', INK, p ? '{/:Bold shifted}' : '{/:Bold one-role}')
    eval say(X - 8, Y + 12, 'right', SOFT, 'tensor cores')
    eval say(X - 8, Y + 46, 'right', SOFT, 'exponentials')
}
# One tile of a warpgroup: products 2 units, exponentials 2 units. 0 and 1: whose.
eval tile(0, 30, 1, FAINT, '0')
eval tile(1, 30, 1, PANEL, '1')
eval tile(2, 64, 2, FAINT, '0')
eval tile(4, 64, 2, PANEL, '1')
eval tile(6, 30, 1, FAINT, '0')
eval tile(7, 30, 1, PANEL, '1')
eval tile(8, 30, 1, FAINT, '0')
eval tile(9, 30, 1, PANEL, '1')
eval tile(10, 64, 2, FAINT, '0')
eval tile(12, 64, 2, PANEL, '1')
eval tile(14, 30, 1, FAINT, '0')
eval tile(15, 30, 1, PANEL, '1')
do for [i = 0:3] {
    eval tile(2 * i, 142, 2, i % 2 ? PANEL : FAINT, i % 2 ? '1' : '0')
    eval tile(2 * i, 176, 2, i % 2 ? FAINT : PANEL, i % 2 ? '0' : '1')
}
eval say(X, 108, 'left', SOFT, 'two tiles of warpgroup 0 and of warpgroup 1')
eval say(X + 8.4 * U, 171, 'left', SOFT, 'the same work')
eval say(X + 8.4 * U, 187, 'left', SOFT, 'in half of the time')
eval arrow(X, 228, X + 16 * U, 228, SOFT)
eval say(X + 8 * U, 240, 'center', SOFT, 'time')
plot NaN notitle
