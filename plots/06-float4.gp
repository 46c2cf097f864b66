# alt: How many times as fast as separate each version of step 06 is, against D. v1-float4 lies far above 1 at every D. separate-float4 begins at 1, rises, and is above v1-float4 from D = 512 on. v1 falls below 1 from D = 64 on, except at D = 80, where it stands at 1.
# data: step-06.tsv
load 'plots/style.gp'
set xlabel 'head dimension D = R'
set ylabel 'times as fast as separate'
set logscale xy
set xrange [6:2700]
set xtics (8, 32, 128, 512, 2048)
set ytics (0.5, 0.7, 1, 1.5, 2, 3)
set yrange [0.45:3]
set bmargin 5.6
set key at screen 0.54, 0.02 bottom center maxrows 2 samplen 2.4 width -2
f = 'step-06.tsv'
w = ' H=4 clock=graph l2=warm'
c = 'D R ratio ratio_p5 ratio_p95'
full = " | awk '$1 == $2'"
plot rows(f, 'variant=separate-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 3 title 'separate-float4', \
     rows(f, 'variant=v1-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 1 title 'v1-float4', \
     rows(f, 'variant=v1' . w, c) . full using 1:3:4:5 with yerrorlines ls FAILED title 'v1', \
     rows(f, 'variant=separate' . w, c) . full using 1:3 with lines ls LIMIT title 'separate'
