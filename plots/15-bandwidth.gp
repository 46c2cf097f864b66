# alt: Share of the copy bandwidth that decode reaches, against the number of keys, one query, cold L2. Cached and both fused versions rise from about half at 1k keys to the limit or above it at 32k. The version that loads the table last stays below them, separate stays below half.
# data: step-15.tsv
load 'plots/style.gp'
set xlabel 'keys (one query, D = R = 128)'
set ylabel '% of the limit'
set logscale x
set xtics ('1k' 1024, '8k' 8192, '32k' 32768, '128k' 131072)
set xrange [800:170000]
set yrange [0:115]
set ytics 0, 20, 100
set bmargin 6.3
set key at screen 0.55, 0.02 bottom center maxrows 3 samplen 2.2 width 0
f = 'step-15.tsv'
w = ' Sq=1 D=128 R=128 clock=graph l2=cold'
c = 'Sk limit_pct'
plot rows(f, 'variant=cached' . w, c) using 1:2 with linespoints ls 1 title 'cached', \
     rows(f, 'variant=fused-computed' . w, c) using 1:2 with linespoints ls 3 title 'fused-computed', \
     rows(f, 'variant=fused-table' . w, c) using 1:2 with linespoints ls 2 title 'fused-table', \
     rows(f, 'variant=fused-table-last' . w, c) using 1:2 with linespoints ls FAILED title 'fused-table-last', \
     rows(f, 'variant=separate' . w, c) using 1:2 with linespoints ls 6 title 'separate', \
     100 with lines ls LIMIT title 'copy'
