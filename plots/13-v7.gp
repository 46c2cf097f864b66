# alt: How many times as fast as separate, against D on the graph clock. v7-scalar lies close to 1. v7-unfused lies where v7 lies. v7-two-blocks lies above v7-unfused-two-blocks, and both above the other variants at D = 512 and 2048.
# data: step-13.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'times as fast as separate'
set logscale x
set xtics (128, 512, 2048)
set xrange [100:2700]
set yrange [0.9:*]
set bmargin 6.4
set key at screen 0.52, 0.02 bottom center maxrows 3 samplen 2 width -3
f = 'step-13.tsv'
w = ' clock=graph l2=warm H=4'
c = 'D R ratio ratio_p5 ratio_p95'
partial = " | awk '$1 != $2 && $1 > 80'"
got(v) = rows(f, 'variant=' . v . w, c) . partial
plot 1 with lines ls LIMIT title 'separate', \
     got('v7-scalar') using 1:3:4:5 with yerrorlines ls 3 title 'v7-scalar', \
     got('v7-unfused') using 1:3:4:5 with yerrorlines ls 2 title 'v7-unfused', \
     got('v7') using 1:3:4:5 with yerrorlines ls 1 title 'v7', \
     got('v7-unfused-two-blocks') using 1:3:4:5 with yerrorlines ls 4 title 'v7-unfused-two-blocks', \
     got('v7-two-blocks') using 1:3:4:5 with yerrorlines ls 5 title 'v7-two-blocks'
