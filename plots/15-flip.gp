# alt: How many times as fast as separate the fused versions are, against the number of keys, for one and four queries. fused-table is about twice as fast at every length, with one query and with four. fused-per-query, at four queries, is near the line of separate, on either side of it.
# data: step-15.tsv
load 'plots/style.gp'
set xlabel 'keys (below: version, number of queries)'
set ylabel 'times as fast as separate'
set logscale x
set xtics ('1k' 1024, '8k' 8192, '32k' 32768, '128k' 131072)
set xrange [800:170000]
set yrange [0:2.5]
set ytics 0, 0.5, 2.5
set bmargin 6.3
set key at screen 0.54, 0.02 bottom center maxrows 3 samplen 2.2 width 0
f = 'step-15.tsv'
w = ' D=128 R=128 clock=graph l2=cold'
c = 'Sk ratio ratio_p5 ratio_p95'
plot rows(f, 'variant=fused-table Sq=1' . w, c) using 1:2:3:4 with yerrorlines ls 1 title 'fused-table, 1', \
     rows(f, 'variant=fused-table Sq=4' . w, c) using 1:2:3:4 with yerrorlines ls 3 title 'fused-table, 4', \
     rows(f, 'variant=fused-per-query Sq=4' . w, c) using 1:2:3:4 with yerrorlines ls FAILED title 'fused-per-query, 4', \
     1 with lines ls LIMIT title 'separate'
