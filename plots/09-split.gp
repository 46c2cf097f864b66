# alt: Speed relative to three separate launches against D, logarithmic on both axes. V3 with frequencies in shared memory lies above V3 everywhere. V4, a block a key, lies far below V3 up to D = 128 and above it from 512 on. A warp a key lies above V4 everywhere and crosses 1 near D = 128.
# data: step-09.tsv
load 'plots/style.gp'
set xlabel 'head dimension D (R = D)'
set ylabel 'time of separate / time of this'
set logscale xy
set xrange [6:2800]
set xtics (8, 32, 128, 512, 2048)
set yrange [0.14:3.2]
set ytics (0.2, 0.5, 1, 2)
set key top left maxrows 4 width -4
f = 'step-09.tsv'
w = ' clock=graph l2=warm'
full = " | awk '$1 == $2'"
c = 'D R ratio ratio_p5 ratio_p95'
got(v) = rows(f, 'variant=' . v . w, c) . full
plot 1 with lines ls LIMIT title 'separate', \
     got('v3') using 1:3:4:5 with yerrorlines ls 2 title 'v3', \
     got('v3-listed') using 1:3:4:5 with yerrorlines ls 5 title 'v3-listed', \
     got('v4') using 1:3:4:5 with yerrorlines ls FAILED title 'v4', \
     got('v4-four-keys') using 1:3:4:5 with yerrorlines ls 4 title 'v4-four-keys', \
     got('warp-listed') using 1:3:4:5 with yerrorlines ls 1 title 'warp-listed'
