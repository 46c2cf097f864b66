# alt: Three heads of 300 rows, stored in tiles of 128. Left: a map of all rows, one array of 900. The third tile of a head ends 84 rows behind its head, and its store covers the first 84 rows of the next head; the last one's lie behind the array and are not written. Right: a map whose third dimension is the head. The same tiles end 84 rows behind the head, and there TMA writes nothing.
# data: none
drawing = 362
load 'plots/style.gp'
ROW = 0.25      # height of a row of the array
S = 300
TILE = 128
W = 84
TOP = 30
do for [way = 0:1] {
    x = way ? 250 : 52
    gap = way ? 24 : 0
    eval say(x + W / 2, 13, 'center', INK, way ? '{/:Bold map [heads][S][D]}' : '{/:Bold map [heads * S][D]}')
    do for [h = 0:2] {
        y = TOP + h * (S * ROW + gap)
        eval box(x, y, W, S * ROW, h % 2 ? FAINT : PANEL, SOFT)
        eval say(x + W / 2, y + 0.5 * S * ROW + (h && !way ? 12 : 0), 'center', INK, sprintf('head %d', h))
        do for [t = 0:2] {
            a = y + t * TILE * ROW
            b = a + TILE * ROW
            m = x - 8 - (way ? 0 : 6 * (h % 2)) # tiles of neighbours side by side
            eval line(m, a + 1, m, b - 1, GOOD)
            eval line(m - 3, a + 1, m + 3, a + 1, GOOD)
            eval line(m - 3, b - 1, m + 3, b - 1, GOOD)
        }
        tail = y + S * ROW
        over = (3 * TILE - S) * ROW
        colour = way || h == 2 ? SOFT : BAD
        eval line(x + W + 8, tail, x + W + 8, tail + over - 1, colour)
        eval line(x + W + 4, tail, x + W + 12, tail, colour)
        eval line(x + W + 4, tail + over - 1, x + W + 12, tail + over - 1, colour)
        if (!way) { eval say(x + W + 16, tail + over / 2, 'left', colour, h < 2 ? '84 rows' : 'cut off') }
        if (way) { eval say(x + W + 16, tail + over / 2, 'left', SOFT, 'cut off') }
    }
    # Elements that the first two heads write into the next head.
    do for [h = 1:(way ? 0 : 2)] {
        eval box(x + 1, TOP + h * S * ROW + 1, W - 2, over - 2, PANEL, BAD)
        eval say(x + W / 2, TOP + h * S * ROW + over / 2, 'center', BAD, 'overwritten')
    }
}
eval say(30, TOP + 0.5 * TILE * ROW, 'right', GOOD, 'tile')
eval say(30, TOP + 1.5 * TILE * ROW, 'right', GOOD, 'tile')
eval say(30, TOP + 2.5 * TILE * ROW, 'right', GOOD, 'tile')
eval say(10, 346, 'left', INK, 'loads: what is cut off comes as zeros; stores: it is not written')
plot NaN notitle
