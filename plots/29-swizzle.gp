# alt: Left, eight rows of a column block, 128 bytes each, as eight chunks of 16 bytes: in row r the chunk c stands in place c XOR r. Chunks 0 and 1, which are 16 elements along the depth of K, are marked: they stand in other places in each row, and still a descriptor names them by the first byte of the column block. Right, a tile of D = 128: two column blocks, one behind the other. From 8 rows to the next 8 there are 1024 bytes, the stride; from one column block to the next rows times 128 bytes, the leading distance.
# data: none
drawing = 266
load 'plots/style.gp'
C = 25
X = 34
Y = 46
eval say(X + 4 * C, 12, 'center', INK, '{/:Bold 8 rows of a column block}')
eval say(X + 4 * C, 33, 'center', SOFT, '128 bytes, in chunks of 16')
do for [r = 0:7] {
    eval say(X - 8, Y + (r + 0.5) * C * 0.8, 'right', SOFT, sprintf('%d', r))
    do for [c = 0:7] {
        place = ((c & ~r) | (~c & r)) & 7
        eval box(X + place * C, Y + r * C * 0.8, C, C * 0.8, c < 2 ? FAINT : PANEL, c < 2 ? GOOD : GRID)
        eval say(X + (place + 0.5) * C, Y + (r + 0.5) * C * 0.8, 'center', c < 2 ? GOOD : SOFT, sprintf('%d', c))
    }
}
eval say(X - 24, Y + 8 * C * 0.8 + 17, 'left', GOOD, '0 and 1: columns 0 to 15, at + 0')
eval say(X - 24, Y + 8 * C * 0.8 + 35, 'left', SOFT, '2 and 3: columns 16 to 31, at + 32')

T = 274
eval say(T + 55, 12, 'center', INK, '{/:Bold 32 rows, D = 128}')
do for [b = 0:1] {
    do for [i = 0:3] {
        eval box(T, 46 + b * 92 + i * 22, 60, 22, b ? PANEL : FAINT, b ? SOFT : GOOD)
        eval say(T + 30, 57 + b * 92 + i * 22, 'center', SOFT, sprintf('%d to %d', i * 8, i * 8 + 7))
    }
}
eval say(T + 30, 33, 'center', SOFT, 'rows')
eval arrow(T + 68, 57, T + 68, 79, ORANGE)
eval say(T + 74, 68, 'left', ORANGE, '1024')
eval arrow(T - 10, 46, T - 10, 136, PURPLE)
eval line(T - 10, 138, T - 2, 138, PURPLE)
eval say(T + 68, 102, 'left', SOFT, 'd = 0')
eval say(T + 68, 116, 'left', SOFT, 'to 63')
eval say(T + 68, 174, 'left', SOFT, 'd = 64')
eval say(T + 68, 188, 'left', SOFT, 'to 127')
eval say(T - 16, 252, 'left', PURPLE, 'leading: rows · 128')
eval say(T - 16, 236, 'left', ORANGE, 'stride: 1024 bytes')
plot NaN notitle
