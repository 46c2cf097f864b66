# alt: Share of the copy bandwidth that decode reaches, against the number of keys, one query, cold L2. To be described.
# data: step-15.tsv
load 'plots/style.gp'
set xlabel 'keys (one query, 32 heads, D = R = 128)'
set ylabel '% of the limit, q, k, v and o once'
set logscale x
set xtics ('1k' 1024, '4k' 4096, '8k' 8192, '32k' 32768, '128k' 131072)
set xrange [800:170000]
set yrange [0:119]
set key bottom right
f = 'step-15.tsv'
w = ' Sq=1 D=128 R=128 clock=graph l2=cold'
c = 'Sk limit_pct'
plot rows(f, 'variant=cached' . w, c) using 1:2 with linespoints ls 1 title 'cached: k turned on append', \
     rows(f, 'variant=fused-computed' . w, c) using 1:2 with linespoints ls 3 title 'fused, angles computed', \
     rows(f, 'variant=fused-table' . w, c) using 1:2 with linespoints ls 2 title 'fused, angles from the table', \
     rows(f, 'variant=separate' . w, c) using 1:2 with linespoints ls 6 title 'separate', \
     100 with lines ls LIMIT title 'limit: copy bandwidth'
