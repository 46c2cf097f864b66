# alt: Shared memory three times, as a square of 32 rows of 32 words. A column is a bank. With apart_1 the 32 words of a warp fill one row, a word in each bank: 1 wavefront. With apart_32 they fill the column of bank 0: 32 wavefronts. With apart_33 they lie on the diagonal, a word in each bank: 1 wavefront.
# data: none
drawing = 190
load 'plots/style.gp'
WORD = 3.5
SIDE = 32 * WORD
do for [panel = 0:2] {
    apart = panel == 0 ? 1 : 31 + panel
    x = 10 + panel * 134
    y = 44
    eval say(x, 13, 'left', INK, sprintf('apart\\\_%d', apart))
    eval say(x, 33, 'left', SOFT, 'bank 0')
    eval say(x + SIDE, 33, 'right', SOFT, '31')
    eval box(x, y, SIDE, SIDE, FAINT, SOFT)
    do for [lane = 0:31] {
        word = apart * lane
        eval box(x + word % 32 * WORD, y + word / 32 * WORD, WORD, WORD, apart == 32 ? BAD : GOOD, PANEL)
    }
    eval say(x + SIDE / 2, y + SIDE + 16, 'center', apart == 32 ? BAD : GOOD, apart == 32 ? '32 wavefronts' : '1 wavefront')
}
plot NaN notitle
