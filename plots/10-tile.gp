# alt: Left, the keys of a head, 64 rows of D elements. All 256 threads copy three rows of them, a tile, into shared memory. Right, the tile twice. In v5 threads 0, 1 and 2 each walk along one row, and threads 3 to 255 wait. In v5-all each of the eight warps has an eighth of every row; the drawing shows it as one part.
# data: none
drawing = 250
load 'plots/style.gp'
X = 12
Y = 62
W = 96
ROW = 6
eval say(X, 13, 'left', INK, '{/:Bold K of a head}')
eval say(X + W / 2, Y - 14, 'center', SOFT, 'D = 2048')
do for [i = 0:21] {
    eval box(X, Y + i * ROW, W, ROW, i == 1 ? FAINT : PANEL, i == 1 ? GOOD : GRID)
}
eval say(X, Y + 22 * ROW + 16, 'left', SOFT, '64 rows, 22 tiles')
eval say(X, Y + 22 * ROW + 34, 'left', GOOD, 'a tile: 3 rows')
eval arrow(X + W, Y + 1.5 * ROW, 156, Y + 1.5 * ROW, GOOD)
eval say(134, Y - 14, 'center', GOOD, 'copy')
T = 160
H = 18
C = 26
TW = 8 * C
eval say(T, 13, 'left', INK, '{/:Bold v5: one key per thread}')
eval say(T, 31, 'left', SOFT, 'threads 0 to 2; the others wait')
do for [r = 0:2] {
    y = 50 + r * H
    eval box(T, y, TW, H, FAINT, GOOD)
    eval say(T + 6, y + H / 2, 'left', ORANGE, sprintf('%d', r))
    eval arrow(T + 18, y + H / 2, T + TW - 6, y + H / 2, ORANGE)
}
S = 172
eval say(T, S - 37, 'left', INK, '{/:Bold v5-all: all threads}')
eval say(T, S - 19, 'left', SOFT, 'an eighth per warp (schematic)')
do for [r = 0:2] {
    do for [c = 0:7] {
        eval box(T + c * C, S + r * H, C, H, FAINT, GOOD)
        eval say(T + (c + 0.5) * C, S + (r + 0.5) * H, 'center', ORANGE, sprintf('%d', c))
    }
}
plot NaN notitle
