# alt: In which order blocks add, in two grids of four by four tiles, a column for each block, a row for each tile of queries. Without a mask block 0 adds first to every row, then blocks 1, 2 and 3, and blocks begin in that order. Under a causal mask a row begins with the last block that sees it: row 0 has block 0 alone, row 1 has block 1 and then block 0, row 2 has blocks 2, 1, 0 and row 3 has blocks 3, 2, 1, 0. So every turn 0 lies on the diagonal, and blocks begin in the order 3, 2, 1, 0.
# data: none
drawing = 226
load 'plots/style.gp'
T = 28
TOP = 56
LEFT = 82
RIGHT = 262
do for [masked = 0:1] {
    x = masked ? RIGHT : LEFT
    eval say(x + 2 * T, 13, 'center', INK, masked ? '{/:Bold causal mask}' : '{/:Bold no mask}')
    do for [j = 0:3] {
        middle = x + (j + 0.5) * T
        eval say(middle, TOP - 14, 'center', INK, sprintf('%d', j))
        eval say(middle, TOP + 4 * T + 16, 'center', ORANGE, sprintf('%d', masked ? 3 - j : j))
        do for [i = 0:3] {
            hidden = masked && j > i
            turn = masked ? i - j : j
            eval box(x + j * T, TOP + i * T, T, T, hidden ? GRID : turn == 0 ? FAINT : PANEL, SOFT)
            if (!hidden) {
                eval say(middle, TOP + (i + 0.5) * T, 'center', GOOD, sprintf('%d', turn))
            }
        }
    }
}
eval say(LEFT - 10, TOP - 14, 'right', INK, 'block')
eval say(LEFT - 10, TOP + 2 * T, 'right', GOOD, 'its turn')
eval say(LEFT - 10, TOP + 4 * T + 16, 'right', ORANGE, 'start')
eval say(10, TOP + 4 * T + 42, 'left', SOFT, 'No block waits for a block that begins later.')
plot NaN notitle
