# alt: A timeline of blocks 0, 1 and 2 of one head without a mask, which begin at the same time; time goes to the right. Each visits tiles 0, 1 and 2 of the queries. In each it computes, adds to the sums of the tile, and multiplies for dK. Block 1 adds to tile 0 when block 0 has added, and block 2 after block 1, so at tile 0 block 1 waits for one addition and block 2 for two. From tile 1 on each block comes just when its turn begins, and none waits. The counter of a tile goes from 0 to 3.
# data: none
drawing = 236
load 'plots/style.gp'
U = 15.2        # a unit of time
LEFT = 56
TOP = 44
H = 24          # of a block's bar
GAP = 44        # from one to the next
COMPUTE = 4.0
ADD = 1.0
REST = 1.5
N = 3
array added[N * N]
eval say(10, 14, 'left', INK, 'block')
eval say(LEFT, 14, 'left', SOFT, 'time')
eval arrow(LEFT + 34, 14, LEFT + 120, 14, SOFT)
do for [b = 0:N - 1] {
    y = TOP + b * GAP
    eval say(28, y + H / 2, 'center', INK, sprintf('{/:Bold %d}', b))
    t = 0.0
    do for [i = 0:N - 1] {
        ready = t + COMPUTE
        start = b > 0 && added[(b - 1) * N + i + 1] > ready ? added[(b - 1) * N + i + 1] : ready
        eval box(LEFT + t * U, y, COMPUTE * U, H, PANEL, SOFT)
        eval say(LEFT + (t + COMPUTE / 2) * U, y + H / 2, 'center', SOFT, sprintf('tile %d', i))
        if (start > ready + 0.01) { eval box(LEFT + ready * U, y, (start - ready) * U, H, GRID, SOFT) }
        eval box(LEFT + start * U, y, ADD * U, H, ORANGE, ORANGE)
        eval box(LEFT + (start + ADD) * U, y, REST * U, H, FAINT, SOFT)
        added[b * N + i + 1] = start + ADD
        if (b < N - 1) {
            eval arrow(LEFT + (start + ADD) * U, y + H, LEFT + (start + ADD) * U, y + GAP - 1, GOOD)
            eval say(LEFT + (start + ADD) * U + 5, y + H + (GAP - H) / 2, 'left', GOOD, sprintf('%d', b + 1))
        }
        t = start + ADD + REST
    }
}
KEY = TOP + N * GAP + 4
eval box(10, KEY, 14, 12, PANEL, SOFT)
eval say(30, KEY + 6, 'left', INK, 'computes dS and its dQ')
eval box(10, KEY + 20, 14, 12, GRID, SOFT)
eval say(30, KEY + 26, 'left', INK, 'waits for its turn')
eval box(196, KEY, 14, 12, ORANGE, ORANGE)
eval say(216, KEY + 6, 'left', INK, 'its turn: adds to the sums')
eval box(196, KEY + 20, 14, 12, FAINT, SOFT)
eval say(216, KEY + 26, 'left', INK, 'multiplies for dK')
eval say(10, KEY + 46, 'left', GOOD, 'arrow: the counter of the tile, which the next block waits for')
plot NaN notitle
