# alt: Largest error of cosine and sine against position, both axes logarithmic. Angles in fp32 grow from 1e-7 at position 1 to nearly 0.01 at position 131008, with either sine. With an exact angle the fast sine alone grows as well. A bf16 table stays at 0.002, an fp32 table at 3e-8, and both reductions stay below the line at 1e-6.
# data: step-20.tsv
load 'plots/style.gp'
set xlabel 'position'
set ylabel 'largest error of cos and sin'
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
set xrange [0.8:2.2e5]
set yrange [1e-8:1e3]
set ytics (1e-8, 1e-6, 1e-4, 1e-2, 1)
set key top left maxrows 4 samplen 2 width -4
f = 'step-20.tsv'
w = ' B=1 clock=- R=128 Sq!=1'
plot rows(f, 'variant=fp32-fast' . w, 'pos0 max_err') with linespoints ls FAILED title 'fp32, fast', \
     rows(f, 'variant=fp32' . w, 'pos0 max_err') with linespoints ls 2 title 'fp32', \
     rows(f, 'variant=fp32-fast B=1 clock=- R=2', 'pos0 max_err') with linespoints ls 4 title 'fast alone', \
     rows(f, 'variant=table-bf16' . w, 'pos0 max_err') with linespoints ls 5 title 'bf16 table', \
     rows(f, 'variant=integer-fast' . w, 'pos0 max_err') with linespoints ls 3 title 'reduced, fast', \
     rows(f, 'variant=integer' . w, 'pos0 max_err') with linespoints ls 1 title 'reduced', \
     rows(f, 'variant=table' . w, 'pos0 max_err') with linespoints ls 6 title 'fp32 table', \
     1e-6 with lines ls LIMIT title '10^{-6}'
