# alt: Largest error of cosine and sine against position, both axes logarithmic. Errors of angles in fp32 grow by four orders of magnitude and more from position 1 to position 131,008, with either sine. The errors of the table and of both reductions stay below a line at one millionth.
# data: step-20.tsv
load 'plots/style.gp'
set xlabel 'position'
set ylabel 'largest error of cos and sin'
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
set xrange [0.8:2.2e5]
set yrange [1e-8:1]
set ytics (1e-8, 1e-6, 1e-4, 1e-2, 1)
set bmargin 6.3
set key at screen 0.56, 0.02 bottom center maxrows 3 samplen 2 width 0
f = 'step-20.tsv'
w = ' B=1 clock=- R=128 Sq!=1 case!=million'
plot rows(f, 'variant=fp32-fast' . w, 'pos0 max_err') with linespoints ls FAILED title 'fp32-fast', \
     rows(f, 'variant=fp32' . w, 'pos0 max_err') with linespoints ls 2 title 'fp32', \
     rows(f, 'variant=integer-fast' . w, 'pos0 max_err') with linespoints ls 3 title 'integer-fast', \
     rows(f, 'variant=integer' . w, 'pos0 max_err') with linespoints ls 1 title 'integer', \
     rows(f, 'variant=table' . w, 'pos0 max_err') with linespoints ls 5 title 'table', \
     1e-6 with lines ls LIMIT title '10^{-6}'
