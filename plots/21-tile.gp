# alt: Left, the matrix of scores as four by four tiles of 64 queries and 64 keys. A block owns one row of tiles and visits them from left to right. Its Q stays in shared memory; tiles of K, then of V, come into one place. For each query a thread keeps m, the sum and o. No tile of scores is kept. Right, one tile, 64 by 64. The threads of a block are 8 groups of 16. A group has 8 neighbouring queries, a band of the tile. A thread of the group has the scores of these 8 queries and of every 16th key, four short columns of the band.
# data: none
drawing = 268
load 'plots/style.gp'
T = 27
L = 44
TOP = 78
eval say(12, 13, 'left', INK, '{/:Bold a block: a row of tiles}')
eval say(12, 31, 'left', SOFT, 'a tile: 64 queries, 64 keys')
do for [i = 0:3] {
    mine = i == 1
    eval box(L - 6 - T, TOP + i * T, T, T, mine ? FAINT : PANEL, mine ? GOOD : SOFT)
    eval box(L + i * T, TOP - 6 - T, T, T, PANEL, ORANGE)
    eval say(L + (i + 0.5) * T, TOP - 6 - T / 2, 'center', ORANGE, 'K V')
    do for [j = 0:3] {
        eval box(L + j * T, TOP + i * T, T, T, mine ? FAINT : PANEL, mine ? GOOD : SOFT)
        number = mine ? sprintf('%d', j + 1) : ''
        eval say(L + (j + 0.5) * T, TOP + 1.5 * T, 'center', INK, number)
    }
}
eval say(L - 6 - T / 2, TOP + 1.5 * T, 'center', GOOD, 'Q')
eval arrow(L + 4 * T, TOP + 1.5 * T, L + 4 * T + 12, TOP + 1.5 * T, GREEN)
eval say(L + 4 * T + 15, TOP + 1.5 * T, 'left', GREEN, 'o')
eval say(12, 204, 'left', GOOD, 'stays: Q, m, sum, o')
eval say(12, 222, 'left', ORANGE, 'comes by: K, then V')
eval say(12, 240, 'left', GREEN, 'written once: o, lse')

E = 2    # an element
X = 236
Y = 66
eval say(X, 13, 'left', INK, '{/:Bold a thread: 8 × 4 scores}')
eval say(X + 32 * E, Y - 12, 'center', SOFT, '64 keys')
eval say(X - 6, Y + 8 * E, 'right', SOFT, '64')
eval say(X - 6, Y + 16 * E, 'right', SOFT, 'que-')
eval say(X - 6, Y + 24 * E, 'right', SOFT, 'ries')
eval box(X, Y, 64 * E, 64 * E, PANEL, SOFT)
do for [i = 1:7] { eval line(X, Y + i * 8 * E, X + 64 * E, Y + i * 8 * E, GRID) }
eval box(X, Y + 16 * E, 64 * E, 8 * E, FAINT, GOOD)
do for [j = 0:3] { eval box(X + (5 + 16 * j) * E, Y + 16 * E, E + 1, 8 * E, ORANGE, ORANGE) }
eval say(X, 204, 'left', GOOD, '16 threads: 8 queries')
eval say(X, 222, 'left', ORANGE, 'one of them: every')
eval say(X, 240, 'left', ORANGE, '16th key, 4 of 64')
plot NaN notitle
