# alt: The way of a tile of K in two columns. Left, by cp.async: 128 threads compute addresses and swizzle, each orders copies of chunks of 16 bytes of device memory, checks whether its row exists, and waits for its own copies; a barrier of all threads says that the tile is there. Right, by TMA: one thread gives the map, a corner and a barrier; TMA computes addresses, clips, swizzles, and counts bytes off the barrier in shared memory, at which all threads wait. From shared memory into registers the way is the same: ldmatrix.
# data: none
drawing = 330
load 'plots/style.gp'
do for [way = 0:1] {
    x = way ? 208 : 10
    eval say(x + 91, 13, 'center', INK, way ? '{/:Bold TMA}' : '{/:Bold cp.async}')
    eval box(x, 28, 182, 30, PANEL, SOFT)
    eval say(x + 91, 43, 'center', INK, 'device memory, L2')
    eval box(x, 80, 182, 72, FAINT, way ? ORANGE : GOOD)
    eval arrow(x + 91, 58, x + 91, 78, way ? ORANGE : GOOD)
    if (!way) {
        eval say(x + 91, 93, 'center', GOOD, '128 threads, each for')
        eval say(x + 91, 108, 'center', GOOD, 'its chunks of 16 bytes:')
        eval say(x + 91, 123, 'center', GOOD, 'address, row in range?,')
        eval say(x + 91, 138, 'center', GOOD, 'swizzle, copy')
    } else {
        eval say(x + 91, 93, 'center', INK, 'one thread: map, corner;')
        eval say(x + 91, 108, 'center', ORANGE, 'TMA: addresses,')
        eval say(x + 91, 123, 'center', ORANGE, 'rows in range?, swizzle,')
        eval say(x + 91, 138, 'center', ORANGE, 'copy of a whole TMA box')
    }
    eval arrow(x + 91, 152, x + 91, 180, way ? ORANGE : GOOD)
    eval box(x, 182, 182, 34, PANEL, SOFT)
    eval say(x + 91, 199, 'center', INK, 'tile in shared memory')
    eval say(x + 91, 232, 'center', way ? ORANGE : GOOD, way ? 'mbarrier: all bytes are there' : 'each: wait for own copies;')
    eval say(x + 91, 247, 'center', way ? ORANGE : GOOD, way ? '' : 'then a barrier of all')
    eval arrow(x + 91, 258, x + 91, 284, PURPLE)
    eval say(x + 97, 270, 'left', PURPLE, 'ldmatrix')
    eval box(x, 286, 182, 30, PANEL, SOFT)
    eval say(x + 91, 301, 'center', INK, 'fragments in registers')
}
plot NaN notitle
