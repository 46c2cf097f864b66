# alt: Speed of attention with several block reductions, relative to the tree of step 02, against D. With the loops apart, every-warp, fix and right lie a little above the tree at small D, in this order, and on it at large D. With the loops inlined, tree-inlined lies well below, and right-inlined further below.
# data: step-04.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'times as fast as tree'
set logscale x
set xtics (8, 32, 128, 512, 2048)
set yrange [0.6:1.1]
set bmargin 6.4
set key at screen 0.56, 0.02 bottom center maxrows 3 samplen 2.4 width 1
f = 'step-04.tsv'
w = ' clock=graph l2=warm'
c = 'D ratio ratio_p5 ratio_p95'
plot rows(f, 'variant=tree' . w, c) using 1:2 with lines ls LIMIT title 'tree', \
     rows(f, 'variant=every-warp' . w, c) using 1:2:3:4 with yerrorlines ls 3 title 'every-warp', \
     rows(f, 'variant=fix' . w, c) using 1:2:3:4 with yerrorlines ls FAILED title 'fix, with its race', \
     rows(f, 'variant=right' . w, c) using 1:2:3:4 with yerrorlines ls 1 title 'right', \
     rows(f, 'variant=tree-inlined' . w, c) using 1:2:3:4 with yerrorlines ls 5 title 'tree-inlined', \
     rows(f, 'variant=right-inlined' . w, c) using 1:2:3:4 with yerrorlines ls 2 title 'right-inlined'
