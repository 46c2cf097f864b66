# alt: Two results of mma.sync side by side, s[2n] and s[2n + 1], each 16 queries by 8 keys. Together they are 16 by 16. Lane 5 has of s[2n] elements 0 and 1 in row 1 at columns 2 and 3, and elements 2 and 3 in row 9 at the same columns; of s[2n + 1] the same places, which are columns 10 and 11 of the square.
# data: none
drawing = 300
load 'plots/style.gp'
L = 14
X = 86
Y = 48
eval say(X + 8 * L, 12, 'center', INK, '{/:Bold 16 queries, 16 keys: two results side by side}')
do for [right = 0:1] {
    x = X + right * 8 * L
    eval say(x + 4 * L, 34, 'center', SOFT, right ? 's[2n + 1]' : 's[2n]')
    eval box(x, Y, 8 * L, 16 * L, PANEL, SOFT)
    do for [i = 1:15] { eval line(x, Y + i * L, x + 8 * L, Y + i * L, GRID) }
    do for [i = 1:7] { eval line(x + i * L, Y, x + i * L, Y + 16 * L, GRID) }
    do for [low = 0:1] {
        eval box(x + 2 * L, Y + (8 * low + 1) * L, 2 * L, L, ORANGE, ORANGE)
        eval right ? say(x + 8 * L + 8, Y + (8 * low + 1.5) * L, 'left', ORANGE, sprintf('[%d], [%d]', 2 * low, 2 * low + 1)) \
            : say(x - 8, Y + (8 * low + 1.5) * L, 'right', ORANGE, sprintf('[%d], [%d]', 2 * low, 2 * low + 1))
    }
}
eval say(X - 8, Y + 2.8 * L, 'right', SOFT, 'row 1')
eval say(X - 8, Y + 10.8 * L, 'right', SOFT, 'row 9')
eval say(X + 3 * L, Y + 16 * L + 13, 'center', SOFT, '2, 3')
eval say(X + 11 * L, Y + 16 * L + 13, 'center', SOFT, '10, 11')
eval say(X + 16 * L + 8, Y + 2.8 * L, 'left', SOFT, 'of lane 5')
plot NaN notitle
