# alt: Largest difference of x from the model's own path against the layer, for the other order of adding, logarithmic. At the shape of Pythia-2.8B it grows from layer 1 to layer 32 in steps of powers of two; in the small model it grows over six layers to about the same size. The log's two points: below ours in layer 1, far above in layer 20.
# data: step-43-layers.tsv
load 'plots/style.gp'
set xlabel 'layer (0 is the embedding: no difference)'
set ylabel 'largest difference of x'
set logscale y
set format y '10^{%L}'
set xrange [0:33]
set yrange [5e-4:10]
set xtics 4
set ytics (1e-3, 1e-2, 0.1, 1, 10)
set bmargin 5.2
set key bmargin center horizontal maxcols 2 samplen 2.4 width 1
$log << EOD
1 0.001
20 1.5
EOD
f = 'step-43-layers.tsv'
w = 'variant=regrouped tensor=hidden index!=0'
c = 'index max_err'
plot $log with points ls 6 ps 1 title 'log', \
     rows(f, w . ' case=pythia', c) with linespoints ls 1 title 'Pythia shape', \
     rows(f, w . ' case=prompt', c) with linespoints ls 2 title 'small, prompt', \
     rows(f, w . ' case=decode', c) with linespoints ls 3 title 'small, 1 letter'
