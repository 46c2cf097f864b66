# alt: Largest error of x against the layer, in the small model that speaks, for a prompt of 48 letters, logarithmic. The error of serial is more than half of the largest element of x after each layer from 1 on. The error of one-serial is that of rounding up to layer 3, and jumps at layer 4. fixed and parallel stay together, about a thousand times lower than serial. All curves rise in the last layer, as the largest element of x does.
# data: step-42-layers.tsv
load 'plots/style.gp'
set xlabel 'layer (0 is the embedding, which is exact)'
set ylabel 'largest error of x'
set logscale y
set format y '10^{%L}'
set xrange [0.7:6.3]
set yrange [1e-3:200]
set xtics 1
set ytics (1e-3, 1e-2, 0.1, 1, 10, 100)
set bmargin 6.6
set key at screen 0.5, 0.02 center bottom vertical maxrows 3 samplen 2.4 width 0
f = 'step-42-layers.tsv'
w = ' case=prompt tensor=hidden index!=0'
c = 'index max_err'
plot rows(f, 'variant=serial' . w, c) with linespoints ls FAILED title 'serial', \
     rows(f, 'variant=one-serial' . w, c) with linespoints ls 2 title 'one-serial', \
     rows(f, 'variant=fixed' . w, c) with linespoints ls 1 title 'fixed', \
     rows(f, 'variant=parallel' . w, c) with lines ls 3 title 'parallel', \
     rows(f, 'variant=parallel' . w, 'index max_want') with lines ls LIMIT title 'largest |x|'
