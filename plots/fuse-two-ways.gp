# alt: Left, two kernels: rotate_keys reads k and writes an array of rotated keys in memory, and scores reads this array and q and writes s. Right, one kernel: fused reads k and q and writes s, with no array between. Below each, what one head of 64 queries and 64 keys costs: one rotation per key, or one per pair of query and key.
# data: none
drawing = 290
load 'plots/style.gp'
H = 26
eval say(98, 16, 'center', INK, '{/:Bold two kernels}')
eval say(306, 16, 'center', INK, '{/:Bold one kernel}')
do for [n = 0:1] {
    x = n == 0 ? 20 : 228
    eval box(x, 40, 50, H, PANEL, ORANGE)
    eval say(x + 25, 40 + H / 2, 'center', ORANGE, 'k')
    eval box(x + 106, 40, 50, H, PANEL, GOOD)
    eval say(x + 131, 40 + H / 2, 'center', GOOD, 'q')
    eval box(x + 60, 218, 96, H, PANEL, PURPLE)
    eval say(x + 108, 218 + H / 2, 'center', PURPLE, 's')
}
eval arrow(45, 66, 45, 82, SOFT)
eval box(10, 84, 92, H, FAINT, INK)
eval say(56, 84 + H / 2, 'center', INK, 'rotate\\_keys')
eval arrow(45, 110, 45, 126, SOFT)
eval box(10, 128, 92, H, PANEL, ORANGE)
eval say(56, 128 + H / 2, 'center', ORANGE, 'rotated')
eval arrow(100, 154, 100, 170, SOFT)
eval arrow(151, 66, 151, 170, SOFT)
eval box(80, 172, 96, H, FAINT, INK)
eval say(128, 172 + H / 2, 'center', INK, 'scores')
eval arrow(128, 198, 128, 216, SOFT)
eval arrow(253, 66, 292, 126, SOFT)
eval arrow(359, 66, 330, 126, SOFT)
eval box(262, 128, 122, 70, FAINT, INK)
eval say(323, 148, 'center', INK, 'fused: rotates')
eval say(323, 164, 'center', INK, 'a key again for')
eval say(323, 180, 'center', INK, 'every query')
eval arrow(336, 198, 336, 216, SOFT)
eval say(98, 262, 'center', INK, '64 rotations,')
eval say(98, 278, 'center', INK, '2 launches')
eval say(306, 262, 'center', INK, '64 · 64 = 4096 rotations,')
eval say(306, 278, 'center', INK, '1 launch')
plot NaN notitle
