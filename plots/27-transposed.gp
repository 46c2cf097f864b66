# alt: A square of eight by eight halves of a tile of K, and the same square of K transposed; each of its eight rows is 16 bytes that ldmatrix reads. In K rows are keys and a row goes along d. The two elements that a lane needs side by side for S = Q K^T are neighbours along d: they lie in one row of K. The two that it needs for dQ = dS K are neighbours along the keys: they lie one below the other, in two rows. In K transposed rows are d and a row goes along keys, so there the pair of S lies in two rows and that of dQ in one.
# data: none
drawing = 262
load 'plots/style.gp'
C = 17    # a half
TOP = 54
do for [transposed = 0:1] {
    x = transposed ? 246 : 46
    eval say(x + 4 * C, 13, 'center', INK, transposed ? '{/:Bold Kᵀ in shared memory}' : '{/:Bold K in shared memory}')
    eval say(x + 4 * C, 38, 'center', SOFT, transposed ? 'keys: 16 bytes per row' : 'd: 16 bytes per row')
    eval say(x - 8, TOP + 4 * C, 'right', SOFT, transposed ? 'd' : 'keys')
    do for [i = 0:7] {
        do for [j = 0:7] { eval box(x + j * C, TOP + i * C, C, C, PANEL, GRID) }
    }
    # The pair of S (k = 0) is in a row of K, that of dQ in a row of K transposed.
    do for [k = 0:1] {
        lies = k == transposed
        colour = k ? ORANGE : GOOD
        do for [i = 0:1] {
            column = lies ? 4 + i : 2
            row = lies ? 2 : 4 + i
            eval box(x + column * C, TOP + row * C, C, C, FAINT, colour)
        }
        eval say(x + (lies ? 6 : 3) * C + 4, TOP + (lies ? 2.5 : 4.5) * C, 'left', colour, \
                 k ? 'dQ' : 'S')
    }
    do for [i = 0:8] { eval line(x, TOP + i * C, x + 8 * C, TOP + i * C, SOFT) }
    eval line(x, TOP, x, TOP + 8 * C, SOFT)
    eval line(x + 8 * C, TOP, x + 8 * C, TOP + 8 * C, SOFT)
}
eval say(10, 212, 'left', GOOD, 'for S a lane wants two neighbours along d,')
eval say(10, 230, 'left', ORANGE, 'for dQ two neighbours along the keys')
eval say(10, 248, 'left', INK, 'ldmatrix gives pairs of a row, .trans of a column')
plot NaN notitle
