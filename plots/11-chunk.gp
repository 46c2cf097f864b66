# alt: Top, the keys of a head, 64 rows of 2048 dimensions, of which all rotate. A chunk has 32 rows and two pieces of 128 dimensions: 0 to 127 of the first half, and their partners, 1024 to 1151, of the second half. The next chunk has the 128 dimensions behind each piece. Bottom, a row of the tile in shared memory: the first members of 128 pairs, then their second members, and one unused float. Thread r takes row r: pair i is element i and element i + 128.
# data: none
drawing = 282
load 'plots/style.gp'
X = 46
Y = 58
W = 340
P = W / 16.0
H = 30
eval say(12, 13, 'left', INK, '{/:Bold K of a head: D = R = 2048}')
eval say(X, Y - 14, 'left', SOFT, '0')
eval say(X + 8 * P, Y - 14, 'left', SOFT, '1024')
eval say(X - 6, Y + H / 2, 'right', SOFT, '0–31')
eval say(X - 6, Y + 1.5 * H, 'right', SOFT, '32–63')
do for [r = 0:1] {
    do for [c = 0:15] {
        mine = r == 0 && c % 8 == 0
        eval box(X + c * P, Y + r * H, P, H, mine ? FAINT : PANEL, mine ? GOOD : GRID)
        eval say(X + (c + 0.5) * P, Y + (r + 0.5) * H, 'center', mine ? GOOD : SOFT, sprintf('%d', 8 * r + c % 8))
    }
}
eval line(X + 8 * P, Y, X + 8 * P, Y + 2 * H, SOFT)
eval say(X, Y + 2 * H + 16, 'left', GOOD, 'number: the chunk; a box: 32 keys × 128 dimensions')
TY = 200
TW = 150
eval say(12, TY - 44, 'left', INK, '{/:Bold chunk 0 in shared memory}')
eval box(X, TY, TW, 44, FAINT, GOOD)
eval box(X + TW, TY, TW, 44, FAINT, GOOD)
eval box(X + 2 * TW, TY, 8, 44, PANEL, SOFT)
eval say(X + TW / 2, TY - 14, 'center', SOFT, 'dimensions 0 to 127')
eval say(X + 1.5 * TW, TY - 14, 'center', SOFT, '1024 to 1151')
eval say(X - 6, TY + 22, 'right', ORANGE, 'row r')
eval line(X, TY + 15, X + 2 * TW + 8, TY + 15, GRID)
eval line(X, TY + 29, X + 2 * TW + 8, TY + 29, GRID)
eval box(X + 60, TY + 15, 6, 14, ORANGE, ORANGE)
eval box(X + TW + 60, TY + 15, 6, 14, ORANGE, ORANGE)
eval say(X + 63, TY + 60, 'center', ORANGE, 'key[i]')
eval say(X + TW + 63, TY + 60, 'center', ORANGE, 'key[i + 128]')
eval say(X + 2 * TW + 8, TY + 60, 'right', SOFT, '1 unused')
plot NaN notitle
