# alt: Sixteen keys of the tile of K, sixteen dimensions each, as four matrices of eight by eight. Matrix 0 is keys 0 to 7 and dimensions 0 to 7, and lanes 0 to 7 name its rows; matrix 1 is the next eight dimensions, lanes 8 to 15; matrices 2 and 3 are keys 8 to 15, lanes 16 to 31. Lane 5 names row 5 of matrix 0, outlined. It gets two neighbours of row 1, at columns 2 and 3, of every matrix, as its registers b[0] to b[3]: b[0] and b[1] are its fragment of the first eight keys, b[2] and b[3] that of the next eight.
# data: none
drawing = 330
load 'plots/style.gp'
L = 14
X = 96
Y = 52
eval say(X + 8 * L, 12, 'center', INK, '{/:Bold 16 keys of K, dimensions 0 to 15}')
do for [right = 0:1] {
    eval say(X + (8 * right + 4) * L, 36, 'center', SOFT, right ? 'd = 8 to 15' : 'd = 0 to 7')
    do for [low = 0:1] {
        x = X + right * 8 * L
        y = Y + low * 8 * L
        m = low * 2 + right
        eval box(x, y, 8 * L, 8 * L, PANEL, SOFT)
        do for [i = 1:7] {
            eval line(x, y + i * L, x + 8 * L, y + i * L, GRID)
            eval line(x + i * L, y, x + i * L, y + 3 * L, GRID)
            eval line(x + i * L, y + (m ? 4 : 6) * L, x + i * L, y + 8 * L, GRID)
        }
        eval box(x + 2 * L, y + L, 2 * L, L, ORANGE, ORANGE)
        eval right ? say(x + 8 * L + 8, y + 1.5 * L, 'left', ORANGE, sprintf('b[%d]', m)) \
            : say(x - 8, y + 1.5 * L, 'right', ORANGE, sprintf('b[%d]', m))
        eval say(x + 4 * L, y + 3.5 * L, 'center', SOFT, sprintf('matrix %d', m))
    }
}
eval box(X, Y + 5 * L, 8 * L, L, FAINT, GOOD)
eval say(X + 4 * L, Y + 5.5 * L, 'center', GOOD, 'named by lane 5')
do for [low = 0:1] {
    eval say(X - 8, Y + (8 * low + 3.6) * L, 'right', INK, low ? 'lanes 16–23' : 'lanes 0–7')
    eval say(X - 8, Y + (8 * low + 5) * L, 'right', SOFT, low ? 'keys 8–15' : 'keys 0–7')
    eval say(X + 16 * L + 6, Y + (8 * low + 3.6) * L, 'left', INK, low ? 'lanes 24–31' : 'lanes 8–15')
}
eval say(X + 8 * L, Y + 16 * L + 16, 'center', ORANGE, 'lane 5 gets row 1, columns 2 and 3, of every matrix:')
eval say(X + 8 * L, Y + 16 * L + 34, 'center', ORANGE, 'b[0], b[1] for keys 0–7, and b[2], b[3] for keys 8–15')
plot NaN notitle
