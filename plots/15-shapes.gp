# alt: Time of separate divided by the time of the fused versions, against the number of keys, one query, for three shapes of a head: 128 dimensions all turned, 128 of which 64 are turned, 80 of which 20 are turned. All lines lie near or above two at every length; with 80 dimensions they lie highest. Angles from a table and computed angles hardly differ.
# data: step-15.tsv
load 'plots/style.gp'
set xlabel 'keys (one query; from the table, or computed)'
set ylabel 'time of separate / time of this'
set logscale x
set xtics ('1k' 1024, '8k' 8192, '32k' 32768, '128k' 131072)
set xrange [800:170000]
set yrange [0:4.4]
set ytics 0, 0.5, 3
set key top left maxrows 3 width 1
f = 'step-15.tsv'
w = ' Sq=1 clock=graph l2=cold'
c = 'Sk ratio ratio_p5 ratio_p95'
plot rows(f, 'variant=fused-table D=80 R=20' . w, c) using 1:2:3:4 with yerrorlines ls 1 title 'D80-R20', \
     rows(f, 'variant=fused-computed D=80 R=20' . w, c) using 1:2:3:4 with yerrorlines ls 4 title 'computed', \
     rows(f, 'variant=fused-table D=128 R=64' . w, c) using 1:2:3:4 with yerrorlines ls 3 title 'D128-R64', \
     rows(f, 'variant=fused-table D=128 R=128' . w, c) using 1:2:3:4 with yerrorlines ls 2 title 'D128', \
     rows(f, 'variant=fused-computed D=128 R=128' . w, c) using 1:2:3:4 with yerrorlines ls 5 title 'computed', \
     1 with lines ls LIMIT title 'separate'
