# alt: Largest difference of x between regrouped and plain against the layer, logarithmic. In the case pythia it grows over 32 layers. In the case prompt of the small model it grows over six layers to the same size, in the case decode to a sixth of it. Two points of the log E3: below ours in layer 1, far above in layer 20.
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
plot $log with points ls 6 ps 1 title 'log E3', \
     rows(f, w . ' case=pythia', c) with linespoints ls 1 title 'pythia', \
     rows(f, w . ' case=prompt', c) with linespoints ls 2 title 'prompt', \
     rows(f, w . ' case=decode', c) with linespoints ls 3 title 'decode'
