# alt: Four boxes, one a warp. From each a line leads to one box, the sum.
# data: none
drawing = 120
load 'plots/style.gp'
do for [warp = 0:3] {
    eval box(20 + warp * 95, 10, 75, 30, FAINT, GOOD)
    eval say(57 + warp * 95, 25, 'center', INK, sprintf('warp %d', warp))
    eval line(57 + warp * 95, 40, 57 + warp * 95, 55, SOFT)
}
eval line(57, 55, 342, 55, SOFT)
eval arrow(200, 55, 200, 78, SOFT)
eval box(160, 80, 80, 30, PANEL, ORANGE)
eval say(200, 95, 'center', ORANGE, 'sum')
plot NaN notitle
