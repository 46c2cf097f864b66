# alt: Four tokens, the, cat, sat and down, a row each. Each row has a part for q, one for k and one for v. Each part has two heads of two elements. Head 1 of q is shaded: four rows of two elements, the matrix q of one head.
# data: none
drawing = 222
load 'plots/style.gp'
W = 22        # of an element
H = 22
TOP = 54
token(i) = word('the cat sat down', i + 1)
colour(m) = m == 0 ? GOOD : m == 1 ? ORANGE : GREEN
do for [m = 0:2] {
    x = 68 + m * 112
    eval say(x + 2 * W + 3, 14, 'center', colour(m), '{/:Bold ' . word('q k v', m + 1) . '}')
    do for [h = 0:1] {
        left = x + h * (2 * W + 6)
        eval say(left + W, 36, 'center', INK, sprintf('head %d', h))
        do for [i = 0:3] {
            do for [d = 0:1] {
                eval box(left + d * W, TOP + i * (H + 5), W, H, h == 1 && m == 0 ? FAINT : PANEL, colour(m))
            }
        }
    }
}
do for [i = 0:3] {
    eval say(58, TOP + i * (H + 5) + H / 2, 'right', INK, token(i))
}
bottom = TOP + 4 * (H + 5)
eval arrow(68 + 3 * W + 6, bottom + 22, 68 + 3 * W + 6, bottom + 1, GOOD)
eval say(20, bottom + 32, 'left', GOOD, 'the matrix q of head 1: S = 4 rows, a row per token,')
eval say(20, bottom + 48, 'left', GOOD, 'and D = 2 columns. A row is one query, a head vector.')
plot NaN notitle
