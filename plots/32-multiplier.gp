# alt: Attention with a causal mask as a grid: eight blocks of 128 queries, one below the other, and sixteen tiles of 64 keys. Block 1 visits two tiles, block 2 four, block 8 all sixteen. One tile of keys is marked, the sixth: blocks 3 to 8 visit it, and each of them rotates it. Below stands how often each tile is rotated: 8 for the first two tiles, 7 for the next two, and so on to 1. The mean is 4.5.
# data: none
drawing = 290
load 'plots/style.gp'
X = 78
Y = 62
W = 19
H = 21
eval say(10, 13, 'left', INK, '{/:Bold S = 1024: tiles that each block rotates}')
eval say(X + 8 * W, 33, 'center', SOFT, '16 tiles of 64 keys')
do for [i = 0:7] {
    eval say(X - 8, Y + (i + 0.5) * H, 'right', SOFT, i ? sprintf('block %d', i + 1) : 'block 1')
    do for [j = 0:15] {
        if (j < 2 * (i + 1)) {
            eval box(X + j * W, Y + i * H, W, H, j == 5 ? ORANGE : FAINT, j == 5 ? ORANGE : GOOD)
        } else {
            eval box(X + j * W, Y + i * H, W, H, PANEL, GRID)
        }
    }
}
eval say(X + 5.5 * W, Y - 10, 'center', ORANGE, 'tile 6')
eval say(X - 8, Y + 8 * H + 14, 'right', INK, 'rotated')
do for [j = 0:15] { eval say(X + (j + 0.5) * W, Y + 8 * H + 14, 'center', j == 5 ? ORANGE : INK, sprintf('%d', 8 - j / 2)) }
eval say(10, Y + 8 * H + 36, 'left', INK, 'times each: 4.5 in the mean. One RoPE kernel: once each.')
plot NaN notitle
