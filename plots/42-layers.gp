# alt: Largest error of x against the layer, at the shape of Pythia-2.8B, logarithmic. serial is far off from layer 1 on. The error of one-serial is that of rounding up to layer 16, and several times larger from layer 17 on. fixed and parallel stay far below, and fixed ends above parallel. The error of the log E3 is about twice that of serial in layers 1 and 2, near it in layer 32, and far above it in layers 3 and 16.
# data: step-42-layers.tsv
load 'plots/style.gp'
set xlabel 'layer (0 is the embedding, which is exact)'
set ylabel 'largest error of x'
set logscale y
set format y '10^{%L}'
set xrange [0:33]
set yrange [1e-3:1e3]
set xtics 4
set ytics (1e-3, 1e-2, 0.1, 1, 10, 100, 1000)
set bmargin 6.6
set key at screen 0.5, 0.02 center bottom vertical maxrows 3 samplen 2.4 width 0
$log << EOD
1 9.156
2 12.078
3 208.75
16 400
32 27.7
EOD
f = 'step-42-layers.tsv'
w = ' case=pythia tensor=hidden index!=0'
c = 'index max_err'
plot $log with points ls 6 ps 1 title 'E3, serial', \
     rows(f, 'variant=serial' . w, c) with linespoints ls FAILED title 'serial', \
     rows(f, 'variant=one-serial' . w, c) with linespoints ls 2 title 'one-serial', \
     rows(f, 'variant=fixed' . w, c) with linespoints ls 1 title 'fixed', \
     rows(f, 'variant=parallel' . w, c) with lines ls 3 title 'parallel'
