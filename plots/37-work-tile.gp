# alt: Time runs to the right, in three rows. TMA: a tile of queries comes, then tiles of keys and values, between them the queries of the next work tile. Angles: those of the first work tile are loaded while its queries come, those of the next one while the last values are multiplied and the result is stored. A consumer warpgroup: it rotates its queries and reads them as fragments, and only then multiplies tile after tile; it multiplies the last values, stores the result, and rotates the queries of the next work tile. A red line marks the two parts before the queries are ready for a product, rotating and reading fragments: once per work tile.
# data: none
drawing = 234
load 'plots/style.gp'
eval say(10, 14, 'left', SOFT, 'TMA, into shared memory')
eval box(10, 26, 34, 26, FAINT, GOOD)
eval say(27, 39, 'center', INK, 'q')
do for [i = 0:2] {
    eval box(48 + 46 * i, 26, 42, 26, FAINT, GREEN)
    eval say(69 + 46 * i, 39, 'center', INK, 'k v')
}
eval box(186, 26, 58, 26, FAINT, GOOD)
eval say(215, 39, 'center', INK, 'next q')
eval box(248, 26, 42, 26, FAINT, GREEN)
eval say(269, 39, 'center', INK, 'k v')
eval say(306, 39, 'center', SOFT, '…')

eval say(62, 103, 'left', SOFT, 'angles, from the L2')
eval box(6, 90, 34, 26, PANEL, ORANGE)
eval say(23, 103, 'center', INK, 'first')
eval box(232, 90, 72, 26, PANEL, ORANGE)
eval say(268, 103, 'center', INK, 'next')

eval say(64, 138, 'left', SOFT, 'a consumer warpgroup')
do for [i = 0:1] {
    x = i ? 308 : 48
    eval box(x, 154, 54, 26, PANEL, ORANGE)
    eval say(x + 27, 167, 'center', INK, 'rotate')
    eval box(x + 54, 154, 26, 26, PANEL, PURPLE)
    eval say(x + 67, 167, 'center', INK, 'Q')
    eval line(x, 186, x + 80, 186, BAD)
}
do for [i = 0:1] {
    eval box(128 + 42 * i, 154, 42, 26, FAINT, GREEN)
    eval say(149 + 42 * i, 167, 'center', INK, 'tile')
}
eval say(221, 167, 'center', SOFT, '…')
eval box(230, 154, 36, 26, FAINT, GREEN)
eval say(248, 167, 'center', INK, 'P V')
eval box(266, 154, 42, 26, PANEL, SOFT)
eval say(287, 167, 'center', INK, 'store')
eval arrow(27, 116, 48, 152, ORANGE)
eval arrow(290, 116, 312, 152, ORANGE)
eval arrow(42, 52, 56, 152, SOFT)
eval say(10, 206, 'left', BAD, 'red line: queries not ready for a product')
eval say(10, 224, 'left', SOFT, 'Q: rows read as fragments.  P V: values of the last tile')
plot NaN notitle
