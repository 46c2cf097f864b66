# alt: Two layers, from x at the top to y at the bottom. The residual runs down the left side of each. Left, a serial layer: norm1 and attention read x, and their result is added to the residual; norm2 and the MLP read this sum, and their result is added too. Right, a parallel layer: norm1 with attention and norm2 with the MLP stand side by side and both read x; the two results are added to each other, and their sum is added to the residual. The input of norm2 is the only line that leads to another place: it comes from the sum at the left and from x at the right.
# data: none
drawing = 276
load 'plots/style.gp'
W = 78
H = 24
P = 18    # side of a box with a plus
part(x, y, text) = box(x - W / 2, y, W, H, FAINT, GOOD) . '; ' . \
    say(x, y + H / 2, 'center', INK, text)
plus(x, y) = box(x - P / 2, y - P / 2, P, P, PANEL, INK) . '; ' . say(x, y, 'center', INK, '+')

eval say(92, 12, 'center', INK, '{/:Bold serial}')
eval say(304, 12, 'center', INK, '{/:Bold parallel}')

# Left: one after the other.
r = 36
b = 124
eval say(r, 32, 'center', INK, 'x')
eval line(r, 42, r, 136, INK)
eval line(r, 48, b, 48, INK)
eval arrow(b, 48, b, 60, INK)
eval part(b, 60, 'norm1')
eval line(b, 84, b, 92, INK)
eval part(b, 92, 'attention')
eval line(b, 116, b, 145, INK)
eval arrow(b, 145, r + P / 2, 145, INK)
eval plus(r, 145)
eval line(r, 154, r, 224, INK)
eval line(r, 163, b, 163, ORANGE)
eval arrow(b, 163, b, 175, ORANGE)
eval part(b, 175, 'norm2')
eval line(b, 199, b, 205, INK)
eval part(b, 205, 'MLP')
eval line(b, 229, b, 240, INK)
eval line(r, 224, r, 231, INK)
eval arrow(b, 240, r + P / 2, 240, INK)
eval plus(r, 240)
eval arrow(r, 249, r, 262, INK)
eval say(r + 10, 264, 'left', INK, 'y')

# Right: side by side.
r = 206
a = 262
b = 350
eval say(r, 32, 'center', INK, 'x')
eval line(r, 42, r, 231, INK)
eval line(r, 48, a, 48, INK)
eval arrow(a, 48, a, 60, INK)
eval line(a, 48, b, 48, ORANGE)
eval arrow(b, 48, b, 60, ORANGE)
eval part(a, 60, 'norm1')
eval line(a, 84, a, 92, INK)
eval part(a, 92, 'attention')
eval part(b, 60, 'norm2')
eval line(b, 84, b, 92, INK)
eval part(b, 92, 'MLP')
m = (a + b) / 2
eval line(a, 116, a, 145, INK)
eval arrow(a, 145, m - P / 2, 145, INK)
eval line(b, 116, b, 145, INK)
eval arrow(b, 145, m + P / 2, 145, INK)
eval plus(m, 145)
eval line(m, 154, m, 240, INK)
eval arrow(m, 240, r + P / 2, 240, INK)
eval plus(r, 240)
eval arrow(r, 249, r, 262, INK)
eval say(r + 10, 264, 'left', INK, 'y')
plot NaN notitle
