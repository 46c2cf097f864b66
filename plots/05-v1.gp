# alt: Time of separate divided by the time of each version of step 05, against D. V1 lies above 1 up to D = 32, at 1 at D = 80, below it elsewhere, and lowest at D = 2048. With a padded table, and more so with neighbouring table entries for neighbouring lanes, it loses less from D = 64 on, and loses still at 2048. Up to D = 32 both are slower than V1.
# data: step-05.tsv
load 'plots/style.gp'
set xlabel 'head dimension D = R'
set ylabel 'time of separate / time of this'
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
plot rows(f, 'variant=v1-by-pair' . w, c) . full using 1:3:4:5 with yerrorlines ls 4 title 'V1, table by pair', \
     rows(f, 'variant=v1-padded' . w, c) . full using 1:3:4:5 with yerrorlines ls 2 title 'V1, table padded', \
     rows(f, 'variant=v1' . w, c) . full using 1:3:4:5 with yerrorlines ls FAILED title 'V1', \
     rows(f, 'variant=separate' . w, c) . full using 1:3 with lines ls LIMIT title 'separate'
