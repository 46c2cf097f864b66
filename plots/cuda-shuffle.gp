# alt: 32 lanes in a row, six rows one below the other, and between two rows a round of the sum. In the first round each lane adds the value of the lane 16 places away, then 8, 4, 2 and 1. Marked are the values that reach lane 0: one lane at the end, and going up 2, 4, 8, 16 and all 32 lanes. All other lanes get their sums in the same way, in paler lines.
# data: none
drawing = 300
load 'plots/style.gp'
STEP = 9.8
HIGH = 50
X = 82
TOP = 26
eval say(X, 9, 'center', SOFT, 'lane 0')
eval say(X + 31 * STEP, 9, 'center', SOFT, '31')
do for [round = 0:5] {
    y = TOP + round * HIGH
    far = 32 >> round          # what lane ^ far had before this round was added
    eval say(8, round ? y - HIGH / 2 : y, 'left', INK, round ? sprintf('lane \\\^ %d', far) : 'at first')
    do for [pale = 1:0:-1] {
        do for [lane = 0:31] {
            wanted = lane < far    # the lanes whose sum reaches lane 0 in the end
            if (round && wanted != pale) {
                other = lane ^ far
                eval line(X + other * STEP, y - HIGH + 3, X + lane * STEP, y - 3, wanted ? GOOD : GRID)
                eval line(X + lane * STEP, y - HIGH + 3, X + lane * STEP, y - 3, wanted ? GOOD : GRID)
            }
        }
    }
    do for [lane = 0:31] {
        marked = round == 0 || lane < far
        eval box(X + lane * STEP - 3, y - 3, 6, 6, marked ? GOOD : PANEL, marked ? GOOD : SOFT)
    }
}
plot NaN notitle
