# alt: The way of a tile of k in two columns. Left, attention alone: cp.async copies it from memory into shared memory, a barrier, ldmatrix reads fragments, products. Right, the fused kernel: cp.async into shared memory, a barrier; then each thread reads four pairs of each of 8 rows into registers, loads as many bytes of angles through L1 and L2 as the tile takes both ways, rotates, and writes the pairs back to the same place; a second barrier; then ldmatrix and products as on the left.
# data: none
drawing = 344
load 'plots/style.gp'
do for [way = 0:1] {
    x = way ? 208 : 10
    eval say(x + 91, 13, 'center', INK, way ? '{/:Bold the fused kernel}' : '{/:Bold attention alone}')
    eval box(x, 28, 182, 28, PANEL, SOFT)
    eval say(x + 91, 42, 'center', INK, 'memory, L2')
    eval arrow(x + 30, 56, x + 30, 82, GOOD)
    eval say(x + 36, 69, 'left', GOOD, 'cp.async')
    eval box(x, 84, 182, 28, FAINT, GOOD)
    eval say(x + 91, 98, 'center', INK, way ? 'tile in shared memory' : 'tile in shared memory')
    eval say(x + 91, 125, 'center', SOFT, 'barrier: the tile is there')
}
# The detour.
eval arrow(238, 138, 238, 162, ORANGE)
eval say(244, 150, 'left', ORANGE, '16 KB')
eval box(208, 164, 182, 40, FAINT, ORANGE)
eval say(299, 176, 'center', ORANGE, 'registers: each thread')
eval say(299, 192, 'center', ORANGE, 'rotates 8 × 4 pairs')
eval line(398, 42, 390, 42, PURPLE)
eval line(398, 42, 398, 184, PURPLE)
eval arrow(398, 184, 391, 184, PURPLE)
eval say(392, 150, 'right', PURPLE, 'angles, 32 KB')
eval arrow(238, 204, 238, 228, ORANGE)
eval say(244, 216, 'left', ORANGE, '16 KB')
eval box(208, 230, 182, 28, FAINT, GOOD)
eval say(299, 244, 'center', INK, 'the same place, rotated')
eval say(299, 271, 'center', SOFT, 'barrier: all of it is rotated')
eval arrow(299, 280, 299, 304, GREEN)
eval arrow(101, 136, 101, 304, GREEN)
eval say(107, 220, 'left', GREEN, 'ldmatrix')
eval say(305, 292, 'left', GREEN, 'ldmatrix')
do for [way = 0:1] {
    x = way ? 208 : 10
    eval box(x, 306, 182, 28, PANEL, SOFT)
    eval say(x + 91, 320, 'center', INK, 'fragments, products')
}
plot NaN notitle
