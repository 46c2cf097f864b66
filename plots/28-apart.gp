# alt: Warps 1 and 5, the two of one scheduler at D = 128, as drawn, not measured. Above, all warps meet once per tile: both warps want the tensor core at the same time, then both compute their softmax, and the tensor core stands idle. Below, with free barriers, warp 5 is behind warp 1: one multiplies while the other computes its softmax, and the tensor core is busy for longer. Warp 0, on another tensor core, does not run apart: it begins each tile when warp 5, the slowest one, has read the tile before.
# data: none
drawing = 384
load 'plots/style.gp'
L = 78
# Parts of a warp's time, one letter and the width of each: Q the product with K, S softmax, P that
# with V, W waits.
colour(part) = part eq 'S' ? ORANGE : part eq 'W' ? SOFT : GOOD
label(part) = part eq 'Q' ? 'QK' : part eq 'P' ? 'PV' : part eq 'S' ? 'softmax' : ''
frame(x, y, w, part) = box(L + x, y, w, 24, colour(part) eq GOOD ? FAINT : PANEL, colour(part))
name(x, y, w, part) = say(L + x + w / 2.0, y + 12, 'center', colour(part), label(part))
busy(x, y, w) = box(L + x, y, w, 10, GOOD, GOOD)
idle(x, y, w) = box(L + x, y, w, 10, PANEL, SOFT)
meeting = 'Q 46 S 54 P 46'
from_1 = 'P 34 Q 34 S 56 P 34 Q 34 S 56 P 34 Q 30'
from_5 = 'S 66 P 34 Q 34 S 56 P 34 Q 34 S 54'
from_0 = 'S 58 P 32 W 10 Q 32 S 54 P 32 W 6 Q 32 S 56'
do for [i = 0:4] {
    y = word('30 60 170 200 258', i + 1) + 0
    parts = i < 2 ? meeting . ' W 4 ' . meeting : i == 2 ? from_1 : i == 3 ? from_5 : from_0
    eval say(L - 8, y + 12, 'right', INK, 'warp ' . word('1 5 1 5 0', i + 1))
    x = 0
    do for [n = 1:words(parts) / 2] {
        part = word(parts, 2 * n - 1)
        w = word(parts, 2 * n) + 0
        if (part ne 'W') { eval frame(x, y, w, part); eval name(x, y, w, part) }
        x = x + w
    }
}
eval say(4, 13, 'left', INK, '{/:Bold All warps of the block meet once per tile}')
eval say(L - 8, 97, 'right', INK, 'tensor core')
do for [t = 0:1] {
    eval busy(t * 150, 92, 46)
    eval idle(t * 150 + 46, 92, 54)
    eval busy(t * 150 + 100, 92, 46)
    eval line(L + t * 150 + 148, 26, L + t * 150 + 148, 110, BAD)
}
eval say(L + 148, 118, 'center', BAD, 'all warps meet')
eval say(4, 152, 'left', INK, '{/:Bold Free barriers: warps 1 and 5 run apart, warp 0 does not}')
eval say(L - 8, 237, 'right', INK, 'tensor core')
eval busy(0, 232, 312)
eval arrow(L + 100, 225, L + 100, 257, BAD)
eval arrow(L + 224, 225, L + 224, 257, BAD)
eval say(L - 8, 296, 'right', SOFT, 'time')
eval arrow(L, 296, L + 310, 296, SOFT)
eval say(4, 320, 'left', INK, 'Above, both warps compute a softmax at the same time, and')
eval say(4, 336, 'left', INK, 'their tensor core is idle. Below, it has products at all times.')
eval say(4, 352, 'left', INK, 'Warp 0 has another tensor core. It begins a tile when all')
eval say(4, 368, 'left', INK, 'warps, here warp 5 as the last one, have read the tile before.')
plot NaN notitle
