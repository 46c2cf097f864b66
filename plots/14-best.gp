# alt: Time of a call on the graph clock against D. PyTorch's eager chain is the slowest at D = 128 and three separate launches at D = 2048; the compiled form of PyTorch lies below both, and busy and split-once lie lowest, well below separate.
# data: step-14.tsv peers.tsv
load 'plots/style.gp'
set xlabel 'head dimension D (R = D)'
set ylabel 'time of a call, µs'
set logscale xy
set xtics (128, 512, 2048)
set xrange [100:2700]
set yrange [0.4:400]
set format y '%g'
full = " | awk '$1 == $2'"
w = ' clock=graph l2=warm H=4 D!=8 D!=16 D!=32 D!=64 D!=80'
got(f, v) = rows(f, 'variant=' . v . w, 'D R median_us p5_us p95_us') . full
set bmargin 6.3
set key at screen 0.56, 0.02 bottom center maxrows 3 samplen 1.8 width -2
plot got('peers.tsv', 'eager') using 1:3:4:5 with yerrorlines ls 6 title 'PyTorch, eager', \
     got('peers.tsv', 'compiled') using 1:3:4:5 with yerrorlines ls 4 title 'PyTorch, compiled', \
     got('step-14.tsv', 'separate') using 1:3:4:5 with yerrorlines ls 2 title 'separate', \
     got('step-14.tsv', 'busy') using 1:3:4:5 with yerrorlines ls 3 title 'busy', \
     got('step-14.tsv', 'split-once') using 1:3:4:5 with yerrorlines ls 1 title 'split-once', \
     rows('step-14.tsv', 'variant=separate' . w, 'D R limit_us') . full using 1:3 with lines ls LIMIT title 'limit'
