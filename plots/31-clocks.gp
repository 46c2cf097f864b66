# alt: Two ways to time the kernels A, B and C over time, and above each the clock rate of the multiprocessors. In turn: A, B and C in a drawn order, one directly behind the other; the rate stays below the highest and is the same for all. Sustained: after a rest, calls of A back to back; the rate falls by steps in the first half, which does not count, and is constant in the second half, which is timed.
# data: none
drawing = 218
load 'plots/style.gp'
X = 92
part(x, y, w, fill, edge, text) = box(X + x, y, w, 20, fill, edge) . '; ' . say(X + x + w / 2.0, y + 10, 'center', edge, text)
# A row: its name, the clock rate's band above, time below.
name(y, said, clock) = say(10, y + 42, 'left', INK, '{/:Bold ' . said . '}') . '; ' . say(10, y + 58, 'left', SOFT, clock)
band(y) = say(X - 4, y + 4, 'right', SOFT, '1980 MHz') . '; ' . line(X, y + 4, X + 300, y + 4, GRID)
y = 16
eval band(y)
eval name(y, 'in turn', 'graph')
eval line(X, y + 14, X + 300, y + 14, PURPLE)
order = 'A C B B A C C B A A B C B A C'
do for [i = 0:14] {
    k = word(order, i + 1)
    eval part(20 * i, y + 34, 19, k eq 'A' ? FAINT : PANEL, k eq 'A' ? GOOD : SOFT, k)
}
eval say(X + 150, y + 68, 'center', SOFT, 'a millisecond each')
y = 116
eval band(y)
eval name(y, 'sustained', '')
eval line(X + 130, y + 4, X + 146, y + 4, PURPLE)
eval line(X + 146, y + 4, X + 146, y + 12, PURPLE)
eval line(X + 146, y + 12, X + 168, y + 12, PURPLE)
eval line(X + 168, y + 12, X + 168, y + 21, PURPLE)
eval line(X + 168, y + 21, X + 300, y + 21, PURPLE)
eval say(X + 62, y + 44, 'center', SOFT, '0.5 s without work')
eval part(130, y + 34, 84, PANEL, SOFT, 'A A A A A')
eval part(215, y + 34, 84, FAINT, GOOD, 'A A A A A')
eval say(X + 172, y + 68, 'center', SOFT, '0.35 s')
eval say(X + 257, y + 68, 'center', GOOD, '0.35 s, timed')
eval say(X + 300, y + 86, 'right', PURPLE, 'line above: clock rate')
eval say(10, y + 86, 'left', SOFT, 'Not to scale.')
plot NaN notitle
