# alt: Q and K of a head, each 64 rows of 2048 dimensions, drawn twice. Top: a block of busy reads one row of Q and all of K, so 64 blocks read K. Bottom: a block of split reads two strips of 32 dimensions, of all rows of Q and of all rows of K, so one block reads each element of K.
# data: none
drawing = 292
load 'plots/style.gp'
X = 40
W = 160
H = 56
G = 24
X2 = X + W + G
do for [k = 0:1] {
    Y = 50 + k * 136
    eval say(12, Y - 32, 'left', INK, k ? '{/:Bold split} and {/:Bold split-once}: one of 32 blocks of a head' : '{/:Bold v7} and {/:Bold busy}: one of 64 blocks of a head')
    eval say(X + W / 2, Y - 12, 'center', SOFT, 'Q, 2048 dimensions')
    eval say(X2 + W / 2, Y - 12, 'center', SOFT, 'K')
    eval box(X, Y, W, H, PANEL, GRID)
    eval box(X2, Y, W, H, k ? PANEL : FAINT, k ? GRID : GOOD)
    eval say(X - 6, Y + H / 2, 'right', SOFT, '64')
}
Y = 50
eval box(X, Y + 20, W, 4, GOOD, GOOD)
eval say(X, Y + H + 16, 'left', GOOD, 'one query')
eval say(X2, Y + H + 16, 'left', GOOD, 'K is read by 64 blocks')
Y = 186
do for [m = 0:1] {
    eval box(X + m * W / 2, Y, 7, H, GOOD, GOOD)
    eval box(X2 + m * W / 2, Y, 7, H, GOOD, GOOD)
    eval say(X + m * W / 2, Y + H + 14, 'left', GOOD, m ? '1024–1055' : '0–31')
    eval say(X2 + m * W / 2, Y + H + 14, 'left', GOOD, m ? '1024–1055' : '0–31')
}
eval say(X, Y + H + 32, 'left', GOOD, 'each element of K is read by one block')
plot NaN notitle
