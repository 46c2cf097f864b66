# alt: One scheduler of four at D = 128, with its two warps, as drawn, not measured. Above, the warps meet once per tile: both want the tensor core at the same time, then both compute their softmax, and the tensor core stands idle. Below, the warps are apart: one multiplies while the other computes its softmax, and the tensor core is busy for longer.
# data: none
drawing = 330
load 'plots/style.gp'
L = 78
# A part of a warp's time: product or softmax.
part(x, y, w, what) = box(L + x, y, w, 24, what ? FAINT : PANEL, what ? GOOD : ORANGE)
name(x, y, w, what) = say(L + x + w / 2.0, y + 12, 'center', what ? GOOD : ORANGE, what ? 'products' : 'softmax')
busy(x, y, w) = box(L + x, y, w, 10, GOOD, GOOD)
idle(x, y, w) = box(L + x, y, w, 10, PANEL, SOFT)
eval say(4, 13, 'left', INK, '{/:Bold The warps of a block meet once per tile}')
do for [w = 0:1] {
    y = 30 + w * 30
    eval say(L - 8, y + 12, 'right', INK, w ? 'warp 4' : 'warp 0')
    do for [t = 0:1] {
        eval part(t * 150, y, 92, 1)
        eval name(t * 150, y, 92, 1)
        eval part(t * 150 + 92, y, 54, 0)
        eval name(t * 150 + 92, y, 54, 0)
    }
}
eval say(L - 8, 97, 'right', INK, 'tensor core')
do for [t = 0:1] {
    eval busy(t * 150, 92, 92)
    eval idle(t * 150 + 92, 92, 58)
    eval line(L + t * 150 + 148, 26, L + t * 150 + 148, 110, BAD)
}
eval say(L + 148, 118, 'center', BAD, 'all warps meet')
eval say(4, 152, 'left', INK, '{/:Bold The warps run apart}')
do for [w = 0:1] {
    y = 170 + w * 30
    eval say(L - 8, y + 12, 'right', INK, w ? 'warp 4' : 'warp 0')
    o = w ? 66 : 0
    if (w) { eval part(0, y, 54, 0); eval name(0, y, 54, 0) }
    do for [t = 0:1] {
        eval part(o + t * 124, y, 68, 1)
        eval name(o + t * 124, y, 68, 1)
        s = w && t ? 46 : 54
        eval part(o + t * 124 + 68, y, s, 0)
        eval name(o + t * 124 + 68, y, s, 0)
    }
}
eval part(248, 170, 64, 1)
eval name(248, 170, 64, 1)
eval say(L - 8, 237, 'right', INK, 'tensor core')
eval busy(0, 232, 312)
eval say(L - 8, 262, 'right', SOFT, 'time')
eval arrow(L, 262, L + 310, 262, SOFT)
eval say(4, 288, 'left', INK, 'Two warps on one tensor core: each product takes longer,')
eval say(4, 304, 'left', INK, 'and then nobody has one. Apart, products of one warp run')
eval say(4, 320, 'left', INK, 'beside the softmax of another.')
plot NaN notitle
