# alt: Time of separate divided by the time of each version of step 06, against D. With 16-byte loads V1 is about 1.6 times as fast as separate at every D. Separate with the same loads is more than twice as fast from 512 on, and so ahead of V1.
# data: step-06.tsv
load 'plots/style.gp'
set xlabel 'head dimension D = R'
set ylabel 'time of separate / time of this'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set ytics (0.5, 0.7, 1, 1.5, 2, 3, 4)
set yrange [0.45:7]
set key top left
f = 'step-06.tsv'
w = ' H=4 clock=graph l2=warm'
c = 'D R ratio ratio_p5 ratio_p95'
full = " | awk '$1 == $2'"
plot rows(f, 'variant=separate-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 3 title 'separate, 16-byte loads', \
     rows(f, 'variant=v1-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 1 title 'V1, 16-byte loads', \
     rows(f, 'variant=v1' . w, c) . full using 1:3:4:5 with yerrorlines ls FAILED title 'V1', \
     rows(f, 'variant=separate' . w, c) . full using 1:3 with lines ls LIMIT title 'separate'
