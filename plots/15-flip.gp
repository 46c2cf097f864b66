# alt: Time of separate divided by the time of the fused versions, against the number of keys, for one, two and four queries. With one query, and with four in a block, the fused version is about twice as fast at every length. With a block for each query it is faster at two queries and near the line at four, on either side of it.
# data: step-15.tsv
load 'plots/style.gp'
set xlabel 'keys (D = R = 128)'
set ylabel 'time of separate / this'
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
plot rows(f, 'variant=fused-table Sq=1' . w, c) using 1:2:3:4 with yerrorlines ls 1 title '1 query', \
     rows(f, 'variant=fused-table Sq=4' . w, c) using 1:2:3:4 with yerrorlines ls 3 title '4 in a block', \
     rows(f, 'variant=fused-per-query Sq=2' . w, c) using 1:2:3:4 with yerrorlines ls 2 title '2, a block each', \
     rows(f, 'variant=fused-per-query Sq=4' . w, c) using 1:2:3:4 with yerrorlines ls FAILED title '4, a block each', \
     rows(f, 'variant=fused-per-query-2 Sq=4' . w, c) using 1:2:3:4 with yerrorlines ls 5 title '4, each, more warps', \
     1 with lines ls LIMIT title 'separate'
