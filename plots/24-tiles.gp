# alt: The matrix of scores as four by four tiles, drawn twice: a row for the queries of a block, a column for its keys. The six tiles above the diagonal are grey: under a causal mask nobody computes them. Left, dq kernel: a block owns a row of tiles and visits them from left to right. Its Q, dO, O, lse and delta stay, tiles of K and V come by, and dQ is written once. The rows have 1, 2, 3 and 4 tiles. Right, dkv kernel: a block owns a column and visits its tiles from the diagonal down. Its K and V stay, tiles of Q, dO, O and lse come by, and dK and dV are written once. The columns have 4, 3, 2 and 1 tiles.
# data: none
drawing = 332
load 'plots/style.gp'
T = 26    # a tile
TOP = 78  # of both grids
tile(x, row, column, fill, edge) = box(x + column * T, TOP + row * T, T, T, fill, edge)
# The strips of operands: queries at the left of a grid, keys above it.
queries(x, row, fill, edge) = box(x - 6 - T, TOP + row * T, T, T, fill, edge)
keys(x, column, fill, edge) = box(x + column * T, TOP - 6 - T, T, T, fill, edge)
in_tile(x, row, column, text) = \
    say(x + (column + 0.5) * T, TOP + (row + 0.5) * T, 'center', INK, text)
in_queries(x, row, colour) = say(x - 6 - T / 2, TOP + (row + 0.5) * T, 'center', colour, 'Q')
in_keys(x, column, colour) = say(x + (column + 0.5) * T, TOP - 6 - T / 2, 'center', colour, 'K V')
L = 42
R = 260
do for [i = 0:3] {
    eval queries(L, i, PANEL, SOFT)
    eval queries(R, i, PANEL, SOFT)
    eval keys(L, i, PANEL, SOFT)
    eval keys(R, i, PANEL, SOFT)
    do for [j = 0:3] {
        eval tile(L, i, j, j > i ? GRID : PANEL, SOFT)
        eval tile(R, i, j, j > i ? GRID : PANEL, SOFT)
    }
}

# Row 2 of dq kernel.
eval queries(L, 2, FAINT, GOOD)
eval in_queries(L, 2, GOOD)
do for [j = 0:2] {
    eval keys(L, j, PANEL, ORANGE)
    eval in_keys(L, j, ORANGE)
    eval tile(L, 2, j, FAINT, GOOD)
    eval in_tile(L, 2, j, sprintf('%d', j + 1))
}
eval arrow(L + 3 * T, TOP + 2.5 * T, L + 4 * T + 14, TOP + 2.5 * T, GREEN)
eval box(L + 4 * T + 14, TOP + 2 * T, T, T, PANEL, GREEN)
eval say(L + 4.5 * T + 14, TOP + 2.5 * T, 'center', GREEN, 'dQ')

# Column 1 of dkv kernel.
eval keys(R, 1, FAINT, GOOD)
eval in_keys(R, 1, GOOD)
do for [i = 1:3] {
    eval queries(R, i, PANEL, ORANGE)
    eval in_queries(R, i, ORANGE)
    eval tile(R, i, 1, FAINT, GOOD)
    eval in_tile(R, i, 1, sprintf('%d', i))
}
eval arrow(R + 1.5 * T, TOP + 4 * T, R + 1.5 * T, TOP + 4 * T + 14, GREEN)
do for [i = 0:1] {
    eval box(R + (0.5 + i) * T, TOP + 4 * T + 14, T, T, PANEL, GREEN)
    eval say(R + (1 + i) * T, TOP + 4.5 * T + 14, 'center', GREEN, i ? 'dV' : 'dK')
}

do for [half = 0:1] {
    x = half ? R - 6 - T : L - 6 - T
    eval say(x, 13, 'left', INK, half ? '{/:Bold dkv kernel}' : '{/:Bold dq kernel}')
    eval say(x, 31, 'left', INK, half ? 'a block: keys, a column' : 'a block: queries, a row')
    eval say(x, 242, 'left', GOOD, half ? 'stay: K, V' : 'stay: Q, dO, lse, delta')
    eval say(x, 260, 'left', ORANGE, half ? 'come by: Q, dO, O, lse' : 'come by: K, V')
    eval say(x, 278, 'left', GREEN, half ? 'written once: dK, dV' : 'written once: dQ')
    eval say(x, 296, 'left', INK, half ? 'delta: made for each tile' : 'delta: made once per row')
    eval say(x, 314, 'left', SOFT, half ? 'tiles per column: 4, 3, 2, 1' : 'tiles per row: 1, 2, 3, 4')
}
plot NaN notitle
