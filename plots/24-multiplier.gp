# alt: Three grids of four blocks, side by side. A row is a tile that the first kernel makes, a column a block of the second kernel, and a square is filled where the block needs the tile. Queries, or an operation element by element: only the diagonal is filled, so each tile is needed by one block, m is 1. Keys without a mask: all squares are filled, m is 4. Keys under a causal mask: squares on and above the diagonal, from 4 blocks for the first tile to 1 for the last, m is 2.5 on average.
# data: none
drawing = 232
load 'plots/style.gp'
T = 24
TOP = 78
names_ = "'queries|element by element' 'keys|no mask' 'keys|causal mask'"
xs = "34 162 290"
ms = "'m = 1' 'm = 4' 'm = (4 + 1) / 2'"
do for [p = 1:3] {
    x = word(xs, p)
    name = word(names_, p)
    eval say(x + 2 * T, 14, 'center', INK, name[1:strstrt(name, '|') - 1])
    eval say(x + 2 * T, 32, 'center', SOFT, name[strstrt(name, '|') + 1:*])
    do for [j = 0:3] {
        eval say(x + (j + 0.5) * T, TOP - 12, 'center', SOFT, sprintf('%d', j))
        do for [i = 0:3] {
            needs = p == 1 ? i == j : p == 2 ? 1 : i <= j
            eval box(x + j * T, TOP + i * T, T - 3, T - 3, needs ? GOOD : PANEL, needs ? GOOD : GRID)
        }
    }
    do for [i = 0:3] { eval say(x - 8, TOP + (i + 0.45) * T, 'right', SOFT, sprintf('%d', i)) }
    eval say(x + 2 * T, TOP + 4 * T + 14, 'center', GOOD, word(ms, p))
}
eval say(10, 50, 'left', SOFT, 'block of the second kernel:')
eval say(10, 212, 'left', SOFT, 'row: a tile that the first kernel makes')
plot NaN notitle
