# alt: Attention for one query and four keys, from left to right. The query is multiplied with each key, which gives four scores. The softmax makes probabilities of the scores, drawn as bars, the longest for key 1. Each value is multiplied by its probability, and the sum is the output.
# data: none
drawing = 236
load 'plots/style.gp'
Q0 = 2.0
Q1 = 1.0
array K0[4] = [1, 1, 0, -1]
array K1[4] = [0, 1, 1, 2]
array V0[4] = [1, 2, 3, 4]
array V1[4] = [0, 0, 1, 1]
array S[4]
array E[4]
do for [j = 1:4] { S[j] = (Q0 * K0[j] + Q1 * K1[j]) / sqrt(2) }
largest = S[1]
do for [j = 2:4] { largest = S[j] > largest ? S[j] : largest }
total = 0
do for [j = 1:4] {
    E[j] = exp(S[j] - largest)
    total = total + E[j]
}
TOP = 62
STEP = 34
H = 24
pair(a, b) = sprintf('(%g, %g)', a, b)
eval box(8, 12, 62, H, FAINT, GOOD)
eval say(39, 12 + H / 2, 'center', GOOD, 'q ' . pair(Q0, Q1))
eval say(104, 18, 'left', INK, 'scores')
eval say(104, 34, 'left', SOFT, 'q · k / √2')
eval say(186, 18, 'left', INK, 'probabilities')
eval say(292, 18, 'left', INK, 'values')
O0 = 0
O1 = 0
do for [j = 1:4] {
    y = TOP + (j - 1) * STEP
    p = E[j] / total
    O0 = O0 + p * V0[j]
    O1 = O1 + p * V1[j]
    eval box(8, y - H / 2, 62, H, PANEL, ORANGE)
    eval say(39, y, 'center', ORANGE, 'k ' . pair(K0[j], K1[j]))
    eval arrow(72, y, 98, y, SOFT)
    eval say(104, y, 'left', INK, sprintf('%.3f', S[j]))
    eval arrow(146, y, 176, y, SOFT)
    eval box(182, y - 8, 1 + 60 * p, 16, GOOD, GOOD)
    eval say(190 + 60 * p, y, 'left', INK, sprintf('%.3f', p))
    eval say(272, y, 'center', SOFT, '×')
    eval box(284, y - H / 2, 58, H, PANEL, GREEN)
    eval say(313, y, 'center', GREEN, 'v ' . pair(V0[j], V1[j]))
    eval line(344, y, 356, y, SOFT)
}
bottom = TOP + 3 * STEP
eval line(356, TOP, 356, bottom, SOFT)
eval arrow(356, bottom, 356, bottom + 26, SOFT)
eval say(162, TOP + 3 * STEP + 22, 'center', SOFT, 'softmax')
eval box(252, bottom + 28, 140, H, FAINT, PURPLE)
eval say(322, bottom + 28 + H / 2, 'center', PURPLE, sprintf('o (%.3f, %.3f)', O0, O1))
eval say(246, bottom + 28 + H / 2, 'right', INK, 'sum')
plot NaN notitle
