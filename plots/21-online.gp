# alt: Bars of the exponentials of four keys' scores, 1, 3, 2 and 5, in three pictures one below the other. First, after the first tile, the largest score is 3: the bars of keys 0 and 1 are e to the power of 1 - 3 and 3 - 3. Second, the second tile has a larger score, 5: both bars, and their sum, are multiplied by e to the power of 3 - 5, and become small. Third, the bars of keys 2 and 3 are added, e to the power of 2 - 5 and 5 - 5. The sum beside each picture is that of its bars.
# data: none
drawing = 352
load 'plots/style.gp'
score(i) = real(word('1 3 2 5', i))
# The three pictures: the largest score, how many keys there are, the heights of title and ground.
most(p) = p == 1 ? 3.0 : 5.0
keys(p) = p == 3 ? 4 : 2
title(p) = real(word('13 136 228', p))
ground(p) = real(word('106 194 324', p))
H = 62.0
said = "'after the first tile: m = 3' 'a larger score: m = 5, all times e^{3 − 5}' " . \
    "'after the second tile'"
do for [p = 1:3] {
    y = ground(p)
    sum = 0.0
    eval say(12, title(p), 'left', INK, word(said, p))
    eval line(12, y, 226, y, SOFT)
    do for [i = 1:keys(p)] {
        size = exp(score(i) - most(p))
        sum = sum + size
        x = 22 + (i - 1) * 52
        colour = i < 3 ? GOOD : ORANGE
        eval box(x, y - H * size, 34, H * size, i < 3 ? FAINT : PANEL, colour)
        eval say(x + 17, y - H * size - 8, 'center', colour, sprintf('%.3f', size))
    }
    eval say(244, y - 26, 'left', INK, sprintf('sum = %.3f', sum))
    if (p == 2) { eval say(244, y - 8, 'left', SOFT, sprintf('      = %.3f e^{3 − 5}', sum * exp(2))) }
}
do for [i = 0:3] { eval say(39 + i * 52, ground(3) + 13, 'center', SOFT, sprintf('key %d', i)) }
plot NaN notitle
