# alt: A grid of 8 rows by 32 columns. Columns 0 to 7 are right, 8 to 15 wrong, 16 to 31 NaN.
# data: step-03-map.tsv
load 'plots/style.gp'
set xlabel 'column'
set ylabel 'row'
unset grid
set border 0
set xrange [-0.5:31.5]
set yrange [7.5:-0.5]
set xtics 8
set ytics 1
set tmargin 3.4
set key above horizontal width 1
colour(s) = s eq 'ok' ? FAINTC : s eq 'nan' ? BADC : GOODC
cells = rows('step-03-map.tsv', '', 'row col what')
plot cells using 2:1:($2-0.46):($2+0.46):($1-0.44):($1+0.44):(colour(strcol(3))) \
         with boxxyerror lc rgb variable notitle, \
     NaN with boxes lc rgb FAINT title 'right', NaN with boxes lc rgb GOOD title 'wrong', NaN with boxes lc rgb BAD title 'NaN'
