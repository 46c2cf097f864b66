# alt: Speed of V7 and of what it is made of, relative to three separate launches, against D on the graph clock. V7 with loads of 4 bytes lies close to 1. Separate launches with loads of 16 bytes lie where V7 lies.
# data: step-13.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'time of separate / this'
set logscale x
set xtics (128, 512, 2048)
set xrange [100:2700]
set yrange [0.9:*]
set bmargin 6.4
set key at screen 0.52, 0.02 bottom center maxrows 3 samplen 2.2 width -4
f = 'step-13.tsv'
w = ' clock=graph l2=warm H=4'
c = 'D R ratio ratio_p5 ratio_p95'
partial = " | awk '$1 != $2 && $1 > 80'"
got(v) = rows(f, 'variant=' . v . w, c) . partial
plot 1 with lines ls LIMIT title 'separate', \
     got('v7-scalar') using 1:3:4:5 with yerrorlines ls 3 title 'V7, 4 bytes', \
     got('v7-unfused') using 1:3:4:5 with yerrorlines ls 2 title 'separate, 16 bytes', \
     got('v7') using 1:3:4:5 with yerrorlines ls 1 title 'V7, 16 bytes', \
     got('v7-unfused-two-blocks') using 1:3:4:5 with yerrorlines ls 4 title 'separate, more loads', \
     got('v7-two-blocks') using 1:3:4:5 with yerrorlines ls 5 title 'V7, more loads'
