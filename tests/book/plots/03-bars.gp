# alt: Bars of the ratio to the tree for each D.
# data: step-03.tsv
load 'plots/style.gp'
set xlabel 'case'
set ylabel 'tree time / this time, ×'
set yrange [0:2]
plot rows('step-03.tsv', 'variant=shuffle clock=graph', 'case ratio') using 0:2:xtic(1) with boxes ls 3 title 'shuffle', \
     1 with lines ls LIMIT title 'as fast as the tree'
