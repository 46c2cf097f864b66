# alt: Speed relative to three separate launches against D, logarithmic on both axes. V3 and V3 with precomputed frequencies lie below 1 everywhere, the latter above the former. V4, a block per key, lies far below both up to D = 128 and above them at 2048. A warp per key is above 1 from D = 128 on and the highest there.
# data: step-09.tsv
load 'plots/style.gp'
set xlabel 'head dimension D (R = D)'
set ylabel 'times as fast as separate'
set logscale xy
set xrange [6:2800]
set xtics (8, 32, 128, 512, 2048)
set yrange [0.12:2.4]
set ytics (0.2, 0.5, 1, 2)
set bmargin 6.4
set key at screen 0.56, 0.02 bottom center maxrows 3 samplen 2.4 width 1
f = 'step-09.tsv'
w = ' clock=graph l2=warm'
full = " | awk '$1 == $2'"
c = 'D R ratio ratio_p5 ratio_p95'
got(v) = rows(f, 'variant=' . v . w, c) . full
plot 1 with lines ls LIMIT title 'separate', \
     got('v3') using 1:3:4:5 with yerrorlines ls 2 title 'v3', \
     got('v3-precomputed') using 1:3:4:5 with yerrorlines ls 5 title 'v3-precomputed', \
     got('v4') using 1:3:4:5 with yerrorlines ls FAILED title 'v4', \
     got('warp-precomputed') using 1:3:4:5 with yerrorlines ls 1 title 'warp-precomputed'
