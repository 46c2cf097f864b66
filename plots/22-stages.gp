# alt: A timeline of one block, from left to right, without and with asynchronous copies. Above, the swizzle kernel: it loads tile 0, then works on it, then loads tile 1, then works on it: loads and work alternate. Below, the async kernel with two stages: tile 0 is copied into stage 0; while the block works on tile 0, tile 1 is copied into stage 1; while it works on tile 1, tile 2 is copied into stage 0. A barrier stands between two tiles: behind it the next tile is there, and the stage of the tile before may be filled.
# data: none
drawing = 296
load 'plots/style.gp'
eval say(10, 12, 'left', INK, '{/:Bold the swizzle kernel: one stage}')
load_(x, y, w, t) = box(x, y, w, 26, FAINT, GOOD)
do for [i = 0:1] {
    x = 62 + i * 164
    eval box(x, 28, 54, 26, FAINT, GOOD)
    eval say(x + 27, 41, 'center', GOOD, sprintf('load %d', i))
    eval box(x + 54, 60, 110, 26, PANEL, ORANGE)
    eval say(x + 109, 73, 'center', ORANGE, sprintf('work on tile %d', i))
    eval line(x + 54, 24, x + 54, 90, SOFT)
    if (i) { eval line(x, 24, x, 90, SOFT) }
}
eval say(10, 41, 'left', SOFT, 'copies')
eval say(10, 73, 'left', SOFT, 'work')
eval say(62, 102, 'left', SOFT, 'a line is a barrier')

eval say(10, 138, 'left', INK, '{/:Bold the async kernel: two stages}')
eval box(62, 154, 54, 26, FAINT, GOOD)
eval say(89, 167, 'center', GOOD, 'tile 0')
do for [i = 0:1] {
    x = 116 + i * 110
    eval box(x, i ? 154 : 186, 90, 26, FAINT, GOOD)
    eval say(x + 45, i ? 167 : 199, 'center', GOOD, sprintf('tile %d', i + 1))
    eval box(x, 218, 110, 26, PANEL, ORANGE)
    eval say(x + 55, 231, 'center', ORANGE, sprintf('work on tile %d', i))
    eval line(x, 150, x, 248, SOFT)
}
eval line(336, 150, 336, 248, SOFT)
eval box(336, 186, 50, 26, FAINT, GOOD)
eval say(361, 199, 'center', GOOD, 'tile 3')
eval box(336, 218, 50, 26, PANEL, ORANGE)
eval say(361, 231, 'center', ORANGE, 'tile 2')
eval say(10, 167, 'left', SOFT, 'stage 0')
eval say(10, 199, 'left', SOFT, 'stage 1')
eval say(10, 231, 'left', SOFT, 'work')
eval say(62, 262, 'left', SOFT, 'behind a barrier the next tile is there for all threads,')
eval say(62, 279, 'left', SOFT, 'and nobody reads the stage that is filled now')
plot NaN notitle
