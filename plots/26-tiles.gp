# alt: One pass over four by four tiles. Each of four blocks owns a column (that of block 1 is shaded): its K and V stay, tiles of Q and dO with lse and delta come by, and it writes its dK and dV once, at the end. Each tile also has something for the queries of its row: from every tile of a row a line leads to one box of fp32 sums beside that row, which is set to zero first and which four blocks add to. A second kernel converts each box of sums to dQ in fp16.
# data: none
drawing = 320
load 'plots/style.gp'
T = 36        # a tile is as wide, and rows are as far apart
X = 58        # of the first tile
TOP = 70
HEIGHT = 22   # of a tile
SUMS = 236    # of the boxes' left edges
DQ = 350
do for [j = 0:3] {
    x = X + j * T
    eval say(x + T / 2, 13, 'center', INK, sprintf('%d', j))
    eval box(x, 24, T, HEIGHT, j == 1 ? FAINT : PANEL, GOOD)
    eval say(x + T / 2, 35, 'center', GOOD, 'K V')
    eval arrow(x + 0.75 * T, TOP + 3 * T + HEIGHT, x + 0.75 * T, TOP + 4 * T + 6, GREEN)
    eval box(x, TOP + 4 * T + 8, T, 2 * HEIGHT, PANEL, GREEN)
    eval say(x + T / 2, TOP + 4 * T + 8 + HEIGHT / 2, 'center', GREEN, 'dK')
    eval say(x + T / 2, TOP + 4 * T + 8 + HEIGHT * 1.5, 'center', GREEN, 'dV')
}
eval say(X - 8, 13, 'right', INK, 'block')
do for [i = 0:3] {
    y = TOP + i * T
    eval box(10, y, T + 4, HEIGHT, PANEL, ORANGE)
    eval say(10 + T / 2 + 2, y + HEIGHT / 2, 'center', ORANGE, 'Q dO')
    # The sums of a row's tiles go along a line below them.
    bus = y + HEIGHT + 7
    do for [j = 0:3] {
        eval box(X + j * T, y, T, HEIGHT, j == 1 ? FAINT : PANEL, SOFT)
        eval line(X + (j + 0.3) * T, y + HEIGHT / 2, X + (j + 0.3) * T, bus, PURPLE)
    }
    eval line(X + 0.3 * T, bus, X + 4 * T, bus, PURPLE)
    eval arrow(X + 4 * T, bus, SUMS - 2, bus, PURPLE)
    eval box(SUMS, bus - HEIGHT / 2, 46, HEIGHT, PANEL, PURPLE)
    eval say(SUMS + 23, bus, 'center', PURPLE, 'sums')
    eval arrow(SUMS + 46, bus, DQ - 2, bus, SOFT)
    eval box(DQ, bus - HEIGHT / 2, 36, HEIGHT, PANEL, GREEN)
    eval say(DQ + 18, bus, 'center', GREEN, 'dQ')
}
eval say(SUMS + 23, TOP - 2, 'center', PURPLE, 'fp32')
eval say(DQ + 18, TOP - 2, 'center', GREEN, 'fp16')
eval say((SUMS + 46 + DQ) / 2, TOP + HEIGHT - 5, 'center', INK, 'convert')
eval say(SUMS, 240, 'left', PURPLE, 'set to zero first, then')
eval say(SUMS, 256, 'left', PURPLE, 'every block adds')
eval say(10, 288, 'left', GOOD, 'stay: K, V')
eval say(10, 306, 'left', ORANGE, 'come by: Q, dO, lse, delta')
eval say(SUMS, 288, 'left', GREEN, 'written once: dK, dV')
plot NaN notitle
