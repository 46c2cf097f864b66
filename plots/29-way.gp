# alt: The way of a tile, from above: in device memory lie q, k, v and o. TMA brings a tile of q once, and tiles of k and v in turn, into shared memory, k and v each in two stages. The first product reads q and k from there, and its results, the scores, are in registers. They become probabilities P, which stay in registers: as an operand of the second product, whose other operand v is read from shared memory. Its results, the output O, are in registers; at the end they are stored into shared memory, and TMA takes them to memory.
# data: none
drawing = 372
load 'plots/style.gp'
eval box(10, 22, 380, 30, PANEL, SOFT)
eval say(18, 11, 'left', SOFT, 'device memory, L2 cache')
names_ = "q k v o"
xs = "18 112 218 324"
do for [i = 1:4] { eval say(word(xs, i) + 29, 37, 'center', INK, word(names_, i)) }

# Shared memory.
eval box(10, 106, 380, 82, PANEL, GRID)
eval say(200, 200, 'center', SOFT, 'shared memory')
eval box(18, 118, 62, 58, FAINT, GOOD)
eval say(49, 139, 'center', INK, 'Q')
eval say(49, 157, 'center', SOFT, '64 rows')
do for [i = 0:1] {
    x = i ? 218 : 112
    eval box(x + 18, 118, 66, 46, FAINT, GOOD)
    eval box(x, 130, 66, 46, FAINT, GOOD)
    eval say(x + 33, 146, 'center', INK, i ? 'V' : 'K')
    eval say(x + 33, 163, 'center', SOFT, '128 rows')
}
eval box(324, 118, 58, 58, FAINT, GOOD)
eval say(353, 146, 'center', INK, 'O')
do for [i = 1:3] { eval arrow(word(xs, i) + 29, 52, word(xs, i) + 29, i == 1 ? 116 : 116, ORANGE) }
eval arrow(353, 118, 353, 54, ORANGE)
eval say(194, 80, 'center', ORANGE, 'TMA')

# Registers.
eval box(10, 262, 380, 70, PANEL, GRID)
eval say(18, 345, 'left', SOFT, 'registers of a warpgroup')
eval box(40, 274, 76, 46, FAINT, GREEN)
eval say(78, 289, 'center', INK, 'scores')
eval say(78, 306, 'center', SOFT, '64 × 128')
eval box(170, 274, 64, 46, FAINT, PURPLE)
eval say(202, 289, 'center', INK, 'P')
eval say(202, 306, 'center', SOFT, 'halves')
eval box(292, 274, 76, 46, FAINT, GREEN)
eval say(330, 289, 'center', INK, 'O')
eval say(330, 306, 'center', SOFT, '64 × D')
eval arrow(49, 176, 66, 272, GREEN)
eval arrow(145, 176, 96, 272, GREEN)
eval say(128, 222, 'left', GREEN, 'Q Kᵀ')
eval arrow(116, 297, 168, 297, PURPLE)
eval say(152, 250, 'center', PURPLE, 'probabilities')
eval arrow(251, 176, 300, 272, GREEN)
eval arrow(234, 297, 290, 297, GREEN)
eval say(204, 222, 'left', GREEN, 'O += P V')
eval arrow(346, 274, 352, 178, SOFT)
eval say(356, 246, 'left', SOFT, 'end')
eval say(10, 363, 'left', INK, 'wgmma reads shared memory, and P from registers')
plot NaN notitle
