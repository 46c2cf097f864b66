# alt: Two tiles of 128 rows and 64 columns. Left K, for the scores: a row is a key; the depth runs along the row. One wgmma reads 16 columns of all 128 rows; the next one begins 32 bytes further to the right. Right V, for the output: the depth runs down, from key to key, and columns are columns of the output. One wgmma reads 16 rows with all columns; the next one begins 2048 bytes further down.
# data: none
drawing = 292
load 'plots/style.gp'
W = 112
H = 150
Y = 62
do for [i = 0:1] {
    X = i ? 226 : 46
    eval say(X + W / 2, 12, 'center', INK, i ? '{/:Bold V, for O += P V}' : '{/:Bold K, for Q Kᵀ}')
    eval say(X + W / 2, 46, 'center', SOFT, i ? '64 columns of O →' : 'depth: columns d →')
    eval box(X, Y, W, H, PANEL, SOFT)
    do for [j = 1:(i ? 7 : 3)] {
        if (i) { eval line(X, Y + j * H / 8, X + W, Y + j * H / 8, GRID) } else { eval line(X + j * W / 4, Y, X + j * W / 4, Y + H, GRID) }
    }
    if (i) { eval box(X, Y, W, H / 8.0, FAINT, GOOD) } else { eval box(X, Y, W / 4.0, H, FAINT, GOOD) }
}
eval say(40, Y + H / 2, 'right', SOFT, '128')
eval say(40, Y + H / 2 + 15, 'right', SOFT, 'keys')
eval say(220, Y + H / 2, 'right', SOFT, 'depth:')
eval say(220, Y + H / 2 + 15, 'right', SOFT, '128 keys')
eval arrow(46, Y + H + 14, 46 + W / 4, Y + H + 14, ORANGE)
eval say(46 + W / 4 + 8, Y + H + 14, 'left', ORANGE, '+ 32 bytes')
eval arrow(226 + W + 8, Y, 226 + W + 8, Y + H / 8, ORANGE)
eval say(226 + W + 14, Y + 9, 'left', ORANGE, '+ 2048')
eval say(200, Y + H + 44, 'center', GOOD, 'blue: what one wgmma reads, 16 of the depth')
eval say(200, Y + H + 64, 'center', SOFT, 'orange: bytes to the next 16; the swizzle is left out')
plot NaN notitle
