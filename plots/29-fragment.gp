# alt: Above, the scores of a warp, of 16 queries and 128 keys: eight slices of 16 keys. Below, one slice, 16 by 16, in four squares of eight by eight. A lane has two neighbours in a row of each square: in the accumulator they are elements 0 and 1, 2 and 3, 4 and 5, 6 and 7. The fragment of an operand has the same four pairs in the same lane, as a0 to a3: the upper left square, the lower left, the upper right, the lower right.
# data: none
drawing = 316
load 'plots/style.gp'
eval say(10, 12, 'left', INK, '{/:Bold scores of a warp: 16 queries, 128 keys}')
do for [i = 0:7] {
    eval box(10 + i * 47, 26, 47, 34, i == 2 ? FAINT : PANEL, i == 2 ? GOOD : GRID)
    eval say(33.5 + i * 47, 43, 'center', i == 2 ? GOOD : SOFT, sprintf('%d …', 16 * i))
}
eval line(104, 60, 100, 92, GOOD)
eval line(151, 60, 292, 92, GOOD)
L = 12
X = 100
Y = 92
said = "'elements 0, 1 → a0' 'elements 2, 3 → a1' 'elements 4, 5 → a2' 'elements 6, 7 → a3'"
do for [right = 0:1] {
    do for [low = 0:1] {
        x = X + right * 8 * L
        y = Y + low * 8 * L
        eval box(x, y, 8 * L, 8 * L, PANEL, SOFT)
        do for [i = 1:7] { eval line(x, y + i * L, x + 8 * L, y + i * L, GRID) }
        do for [i = 1:3] { eval line(x + 2 * i * L, y, x + 2 * i * L, y + 8 * L, GRID) }
        eval box(x + 2 * L, y + L, 2 * L, L, ORANGE, ORANGE)
    }
}
do for [low = 0:1] {
    eval say(X - 8, Y + low * 8 * L + 1.5 * L, 'right', ORANGE, word(said, low + 1)[10:])
    eval say(X + 16 * L + 8, Y + low * 8 * L + 1.5 * L, 'left', ORANGE, word(said, low + 3)[10:])
}
eval say(X + 4 * L, Y + 16 * L + 14, 'center', SOFT, 'keys 32 to 39')
eval say(X + 12 * L, Y + 16 * L + 14, 'center', SOFT, '40 to 47')
eval say(X - 8, Y + 5 * L, 'right', SOFT, 'queries 0 to 7')
eval say(X - 8, Y + 13 * L, 'right', SOFT, '8 to 15')
eval say(X + 16 * L + 8, Y + 5 * L, 'left', INK, 'one lane has')
eval say(X + 16 * L + 8, Y + 6.4 * L, 'left', INK, 'these four pairs')
plot NaN notitle
