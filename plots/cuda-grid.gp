# alt: A grid of two blocks. Each block has two warps, side by side, and each warp is a row of 32 lanes. Block 0 has elements 0 to 31 in warp 0 and 32 to 63 in warp 1. Block 1 has elements 64 to 95 in warp 0, and in warp 1 elements 96 to 99, in its lanes 0 to 3; element 99, lane 3, is marked. The other 28 lanes of that warp have no element.
# data: none
drawing = 216
load 'plots/style.gp'
LANE = 4.75   # a lane is as wide
HIGH = 16
eval box(4, 4, 392, 186, PANEL, SOFT)
eval say(14, 17, 'left', SOFT, 'grid: note<<<2, 64>>>')
do for [b = 0:1] {
    y = 30 + b * 80
    eval box(12, y, 376, 70, PANEL, GOOD)
    eval say(19, y + 35, 'left', GOOD, sprintf('block %d', b))
    do for [w = 0:1] {
        x = 68 + w * 164
        eval say(x, y + 12, 'left', GREEN, sprintf('warp %d', w))
        do for [lane = 0:31] {
            i = b * 64 + w * 32 + lane
            eval box(x + lane * LANE, y + 22, LANE, HIGH, i == 99 ? ORANGE : i < 100 ? FAINT : PANEL, GREEN)
        }
        eval say(x, y + 50, 'left', SOFT, 'lane 0')
        eval say(x + 32 * LANE, y + 50, 'right', SOFT, 'lane 31')
    }
}
eval say(14, 204, 'left', ORANGE, 'element 99: block 1, warp 1, lane 3')
eval say(388, 204, 'right', SOFT, 'white: no element')
plot NaN notitle
