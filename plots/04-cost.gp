# alt: Time of attention with four block reductions, relative to the tree of step 02, against D. Above 1 is faster than the tree. The two-barrier and three-barrier versions lie close together.
# data: step-04.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'tree time / this time'
set logscale x
set xtics (8, 64, 128, 512, 2048)
set key top right
f = 'step-04.tsv'
w = ' clock=graph l2=warm'
c = 'D ratio ratio_p5 ratio_p95'
plot rows(f, 'variant=fix' . w, c) using 1:2:3:4 with yerrorlines ls FAILED title 'fix (2 barriers, a race)', \
     rows(f, 'variant=right' . w, c) using 1:2:3:4 with yerrorlines ls 1 title 'right (3 barriers)', \
     rows(f, 'variant=every-warp' . w, c) using 1:2:3:4 with yerrorlines ls 3 title 'every warp (2 barriers)', \
     1 with lines ls LIMIT title 'tree (10 barriers)'
