# alt: Four keys of one head with scores 1, 3, 2 and 5 and values 1 to 4, in two shares of two keys. Below each share its block, with its maximum, the sum of its exponentials, and the sum of its values, each times its exponential. The maximum is 3 in block 0 and 5 in block 1. Arrows lead from both blocks to the kernel join_shares. It multiplies both sums of block 0 by 2 to the power of 3 - 5, adds those of block 1, and divides the values by the sum.
# data: none
drawing = 300
load 'plots/style.gp'
eval say(200, 14, 'center', INK, '{/:Bold the keys of one head, in two shares}')
do for [b = 0:1] {
    x = b == 0 ? 8 : 204
    colour = b == 0 ? ORANGE : GREEN
    do for [i = 0:1] {
        eval box(x + i * 96, 32, 92, 40, PANEL, colour)
        eval say(x + i * 96 + 46, 45, 'center', colour, sprintf('score %s', word('1 3 2 5', 2 * b + i + 1)))
        eval say(x + i * 96 + 46, 61, 'center', colour, sprintf('value %d', 2 * b + i + 1))
    }
    eval arrow(x + 94, 74, x + 94, 92, SOFT)
    eval box(x, 94, 188, 78, FAINT, colour)
    eval say(x + 94, 108, 'center', colour, sprintf('block %d', b))
    eval say(x + 94, 126, 'center', INK, b == 0 ? 'maximum 3' : 'maximum 5')
    eval say(x + 94, 143, 'center', INK, b == 0 ? 'sum 2^{1−3} + 2^{3−3} = 1.25' : 'sum 2^{2−5} + 2^{5−5} = 1.125')
    eval say(x + 94, 160, 'center', INK, b == 0 ? 'values 0.25·1 + 2 = 2.25' : 'values 0.125·3 + 4 = 4.375')
    eval arrow(x + 94, 174, b == 0 ? 150 : 250, 198, SOFT)
}
eval box(8, 200, 384, 92, FAINT, GOOD)
eval say(200, 215, 'center', GOOD, 'join\\_shares: block 0 times 2^{3−5} = 0.25')
eval say(200, 236, 'center', INK, 'sum  0.25 · 1.25 + 1.125 = 1.4375')
eval say(200, 255, 'center', INK, 'values  0.25 · 2.25 + 4.375 = 4.9375')
eval say(200, 276, 'center', INK, 'output  4.9375 / 1.4375 = 3.435')
plot NaN notitle
