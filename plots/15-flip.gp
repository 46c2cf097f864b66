# alt: Time of separate divided by the time of the fused versions, against the number of keys, for one, two and four queries. To be described.
# data: step-15.tsv
load 'plots/style.gp'
set xlabel 'keys (32 heads, D = R = 128)'
set ylabel 'time of separate / time of this'
set logscale x
set xtics ('1k' 1024, '4k' 4096, '8k' 8192, '32k' 32768, '128k' 131072)
set xrange [800:170000]
set yrange [0:3.4]
set key top left
f = 'step-15.tsv'
w = ' D=128 R=128 clock=graph l2=cold'
c = 'Sk ratio ratio_p5 ratio_p95'
plot rows(f, 'variant=fused-computed Sq=1' . w, c) using 1:2:3:4 with yerrorlines ls 1 title '1 query, keys turned once', \
     rows(f, 'variant=fused-computed Sq=4' . w, c) using 1:2:3:4 with yerrorlines ls 3 title '4 queries, keys turned once', \
     rows(f, 'variant=fused-per-query Sq=2' . w, c) using 1:2:3:4 with yerrorlines ls 2 title '2 queries, keys turned twice', \
     rows(f, 'variant=fused-per-query Sq=4' . w, c) using 1:2:3:4 with yerrorlines ls FAILED title '4 queries, keys turned 4 times', \
     1 with lines ls LIMIT title 'separate'
