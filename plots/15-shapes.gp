# alt: How many times as fast as separate fused-table is, against the number of keys, one query, for three shapes of a head: 128 dimensions all rotated, 128 of which 64 are rotated, 80 of which 20 are rotated. All three lines lie near or above two at every length; with 80 dimensions the line lies highest.
# data: step-15.tsv
load 'plots/style.gp'
set xlabel 'keys (one query, fused-table)'
set ylabel 'times as fast as separate'
set logscale x
set xtics ('1k' 1024, '8k' 8192, '32k' 32768, '128k' 131072)
set xrange [800:170000]
set yrange [0:2.8]
set ytics 0, 0.5, 2.5
set bmargin 5.2
set key at screen 0.55, 0.02 bottom center maxrows 2 samplen 2.2 width 1
f = 'step-15.tsv'
w = ' Sq=1 variant=fused-table clock=graph l2=cold'
c = 'Sk ratio ratio_p5 ratio_p95'
plot rows(f, 'D=80 R=20' . w, c) using 1:2:3:4 with yerrorlines ls 1 title '20 of 80 rotated', \
     rows(f, 'D=128 R=64' . w, c) using 1:2:3:4 with yerrorlines ls 3 title '64 of 128', \
     rows(f, 'D=128 R=128' . w, c) using 1:2:3:4 with yerrorlines ls 2 title '128 of 128', \
     1 with lines ls LIMIT title 'separate'
