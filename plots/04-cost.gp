# alt: Time of attention with several block reductions, relative to the tree of step 02, against D. With the loops kept apart, all lie within a few per cent above 1. With the loops inlined, the same reductions lie at 0.6 to 0.9.
# data: step-04.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'time of tree / time of this'
set logscale x
set xtics (8, 64, 128, 512, 2048)
set yrange [0.55:1.75]
set key top left
f = 'step-04.tsv'
w = ' clock=graph l2=warm'
c = 'D ratio ratio_p5 ratio_p95'
plot rows(f, 'variant=every-warp' . w, c) using 1:2:3:4 with yerrorlines ls 3 title 'every warp, 2 barriers', \
     rows(f, 'variant=right' . w, c) using 1:2:3:4 with yerrorlines ls 1 title 'right, 3 barriers', \
     rows(f, 'variant=fix' . w, c) using 1:2:3:4 with yerrorlines ls FAILED title 'fix, 2 barriers and a race', \
     rows(f, 'variant=tree' . w, c) using 1:2 with linespoints ls 6 title 'tree, 10 barriers', \
     rows(f, 'variant=tree-inlined' . w, c) using 1:2:3:4 with yerrorlines ls 5 title 'tree, loops inlined', \
     rows(f, 'variant=right-inlined' . w, c) using 1:2:3:4 with yerrorlines ls 2 title 'right, loops inlined'
