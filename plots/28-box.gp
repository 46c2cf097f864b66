# alt: Left, an array of three heads in device memory, each a sheet of S rows and D = 128 columns. Two TMA boxes are marked in the sheet in front, head 2: box 0 has columns 0 to 63 and box 1 columns 64 to 127, and both have the rows of the tile. Right, shared memory: the two boxes lie one behind the other, each with rows of 128 bytes, and the bytes of both are counted by one mbarrier.
# data: none
drawing = 312
load 'plots/style.gp'
eval say(84, 13, 'center', INK, '{/:Bold array in device memory}')
eval say(328, 13, 'center', INK, '{/:Bold shared memory}')
W = 120
H = 150
do for [h = 0:2] {
    X = 64 - 20 * h
    Y = 30 + 24 * h
    eval box(X, Y, W, H, PANEL, SOFT)
    eval say(X + W - 4, Y + 12, 'right', SOFT, sprintf('head %d', h))
}
X = 24
Y = 78
eval box(X, Y + 44, W / 2, 54, FAINT, GOOD)
eval box(X + W / 2, Y + 44, W / 2, 54, FAINT, ORANGE)
eval say(X + 30, Y + 71, 'center', GOOD, 'box 0')
eval say(X + 90, Y + 71, 'center', ORANGE, 'box 1')
eval say(X, Y + H + 14, 'center', GOOD, 'x = 0')
eval say(X + W / 2, Y + H + 14, 'center', ORANGE, '64')
eval say(X + W, Y + H + 14, 'center', SOFT, '128')
eval say(X - 20, Y + 2, 'left', SOFT, 'y')
eval arrow(X - 8, Y + 2, X - 8, Y + 44, SOFT)
eval box(268, 30, 120, 62, FAINT, GOOD)
eval say(328, 52, 'center', GOOD, 'box 0')
eval say(328, 70, 'center', SOFT, 'rows of 128 bytes')
eval box(268, 92, 120, 62, FAINT, ORANGE)
eval say(328, 114, 'center', ORANGE, 'box 1')
eval say(328, 132, 'center', SOFT, 'rows of 128 bytes')
eval box(268, 188, 120, 28, PANEL, SOFT)
eval say(328, 202, 'center', INK, 'mbarrier')
eval arrow(X + W + 2, Y + 52, 264, 62, GOOD)
eval arrow(X + W + 2, Y + 80, 264, 124, ORANGE)
eval arrow(328, 156, 328, 185, INK)
eval say(334, 171, 'left', INK, 'bytes')
eval say(8, 264, 'left', GOOD, 'order 0: the corner x = 0, y = first row, z = 2')
eval say(8, 281, 'left', ORANGE, 'order 1: the corner x = 64, y = first row, z = 2')
eval say(8, 299, 'left', INK, 'each with the map, a place in shared memory, the mbarrier')
plot NaN notitle
