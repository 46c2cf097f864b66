# alt: How many times as fast as separate each version of step 07 is, against D. All lie above 1. v2 is below v1-float4 at every D. v2-no-powf lies close to v1-float4. separate-float4 begins at 1, passes v2 at D = 64, and is far above all others from D = 512 on.
# data: step-07.tsv
load 'plots/style.gp'
set xlabel 'head dimension D = R'
set ylabel 'times as fast as separate'
set logscale xy
set xrange [6:2700]
set xtics (8, 32, 128, 512, 2048)
set ytics (1, 1.5, 2, 3)
set yrange [0.9:3]
set bmargin 6.4
set key at screen 0.54, 0.02 bottom center maxrows 3 samplen 2.4 width -2
f = 'step-07.tsv'
w = ' H=4 clock=graph l2=warm'
c = 'D R ratio ratio_p5 ratio_p95'
full = " | awk '$1 == $2'"
plot rows(f, 'variant=separate-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 3 title 'separate-float4', \
     rows(f, 'variant=v2-no-powf' . w, c) . full using 1:3:4:5 with yerrorlines ls 4 title 'v2-no-powf', \
     rows(f, 'variant=v1-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 1 title 'v1-float4', \
     rows(f, 'variant=v2' . w, c) . full using 1:3:4:5 with yerrorlines ls 2 title 'v2', \
     rows(f, 'variant=separate' . w, c) . full using 1:3 with lines ls LIMIT title 'separate'
