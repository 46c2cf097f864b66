# alt: Left, a block of four warps with 16 queries each: every warp reads the whole tile of K and V from shared memory, four readings for 64 queries. Right, four warps with two strips of 16 queries each: every warp again reads the whole tile once, and uses each operand for both strips: four readings for 128 queries.
# data: none
drawing = 250
load 'plots/style.gp'
do for [p = 0:1] {
    X = p ? 212 : 12
    eval say(X + 86, 12, 'center', INK, p ? '{/:Bold 32 queries per warp}' : '{/:Bold 16 queries per warp}')
    eval box(X, 30, 172, 30, FAINT, GOOD)
    eval say(X + 86, 45, 'center', GOOD, 'tile of K and V')
    do for [w = 0:3] {
        x = X + w * 44
        eval arrow(x + 20, 60, x + 20, 92, GREEN)
        do for [i = 0:p] {
            eval box(x, 94 + i * 40, 40, 40, PANEL, ORANGE)
            eval say(x + 20, 114 + i * 40, 'center', ORANGE, '16')
        }
        eval say(x + 20, p ? 186 : 146, 'center', SOFT, sprintf('warp %d', w))
    }
    eval say(X + 86, 208, 'center', GREEN, 'the tile is read four times')
    eval say(X + 86, 228, 'center', INK, p ? 'for 128 queries' : 'for 64 queries')
}
plot NaN notitle
