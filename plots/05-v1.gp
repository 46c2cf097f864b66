# alt: How many times as fast as separate each version of step 05 is, against D. v1 lies above 1 up to D = 32, at 1 at D = 80, below it at the other D, and lowest at D = 2048. At D = 64 and from D = 128 on v1-padded and, more so, v1-by-pair lie above v1, and from D = 128 on still below 1. At D = 64 v1-by-pair stands just above 1. Up to D = 32 and at D = 80 both are slower than v1. v1-by-row lies below v1 at every D, most at D = 8.
# data: step-05.tsv
load 'plots/style.gp'
set xlabel 'head dimension D = R'
set ylabel 'times as fast as separate'
set logscale xy
set xrange [6:2700]
set xtics (8, 32, 128, 512, 2048)
set ytics (0.5, 0.7, 1, 1.5)
set yrange [0.45:1.7]
set bmargin 5.6
set key at screen 0.54, 0.02 bottom center maxrows 2 samplen 2.4 width -2
f = 'step-05.tsv'
w = ' clock=graph l2=warm'
c = 'D R ratio ratio_p5 ratio_p95'
full = " | awk '$1 == $2'"
plot rows(f, 'variant=v1-by-pair' . w, c) . full using 1:3:4:5 with yerrorlines ls 4 title 'v1-by-pair', \
     rows(f, 'variant=v1-padded' . w, c) . full using 1:3:4:5 with yerrorlines ls 2 title 'v1-padded', \
     rows(f, 'variant=v1' . w, c) . full using 1:3:4:5 with yerrorlines ls FAILED title 'v1', \
     rows(f, 'variant=v1-by-row' . w, c) . full using 1:3:4:5 with yerrorlines ls 5 title 'v1-by-row', \
     rows(f, 'variant=separate' . w, c) . full using 1:3 with lines ls LIMIT title 'separate'
