# alt: Time of separate with 16-byte loads divided by the time of each version of step 07, against D. V2 is slower than V1 with its table at every D. Without powf it is faster than V1. With sincosf it is slowest. From D = 512 on, all are below 1.
# data: step-07.tsv
load 'plots/style.gp'
set xlabel 'head dimension D = R'
set ylabel 'time of separate / time of this'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set ytics (0.7, 1, 1.5, 2, 3, 4)
set yrange [0.8:7]
set key top left
f = 'step-07.tsv'
w = ' H=4 clock=graph l2=warm'
c = 'D R ratio ratio_p5 ratio_p95'
full = " | awk '$1 == $2'"
plot rows(f, 'variant=separate-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 3 title 'separate, 16-byte loads', \
     rows(f, 'variant=v2-no-powf' . w, c) . full using 1:3:4:5 with yerrorlines ls 4 title 'V2, frequencies handed in', \
     rows(f, 'variant=v1-float4' . w, c) . full using 1:3:4:5 with yerrorlines ls 1 title 'V1, 16-byte loads', \
     rows(f, 'variant=v2' . w, c) . full using 1:3:4:5 with yerrorlines ls 2 title 'V2', \
     rows(f, 'variant=v2-accurate' . w, c) . full using 1:3:4:5 with yerrorlines ls FAILED title 'V2, sincosf', \
     rows(f, 'variant=separate' . w, c) . full using 1:3 with lines ls LIMIT title 'separate'
