# alt: Which elements of the output are wrong, for one head at D = 128, in three panels: bug in the sum (bug-sum), in the maximum (bug-max), in both (bug-both). Columns 64 to 127 are infinite with the bug in the sum only, and NaN in the two others. With the bug in the sum, columns 32 to 63 are wrong and columns 0 to 31 right. With the bug in the maximum, some rows are wrong in columns 0 to 63. With both, columns 32 to 63 are wrong, and some rows of columns 0 to 31.
# data: step-03-map.tsv
load 'plots/style.gp'
# The map has one block per variant, one digit per element. Equal neighbours in a row become one box.
runs(variant) = sprintf("< awk -v want=%s '/^#/ { on = $3 == want; next } on && NF { \
    from = 1; for (i = 2; i <= NF + 1; i++) if (i > NF || $i != $from) { print from - 1, i - 1, y, $from; from = i } \
    y++ }' '%s/step-03-map.tsv'", variant, datadir)
kind(c) = c == 2 ? BADC : c == 1 ? 0xe8a33d : FAINTC
unset title
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set multiplot layout 3, 1 margins 0.14, 0.955, 0.17, 0.82 spacing 0.085
set xrange [0:128]
set yrange [64:0]
set xtics 32
set ytics 32
set style fill solid noborder
unset grid
set border 15
set key at screen 0.955, 0.945 top right horizontal maxrows 1 samplen 0.8 width -2
do for [i = 1:3] {
    v = word('bug-sum bug-max bug-both', i)
    if (i == 2) { unset label 99; unset key; set ylabel 'row' offset 1.5, 0 }
    if (i == 1) { set format x '' }
    if (i == 3) { set format x '%g'; set xlabel 'column'; unset ylabel }
    set label 1 v . ': bug in ' . (i == 3 ? 'both' : 'the ' . word('sum maximum', i)) . \
        '; not finite: ' . (i == 1 ? 'infinite' : 'NaN') at graph 0, 1.18 \
        font ',12' textcolor rgb INK
    plot runs(v) using ($1):($3):1:2:3:($3+1):(kind($4)) with boxxyerror lc rgb variable notitle, \
         keyentry with boxes lc rgb FAINT title 'right', \
         keyentry with boxes lc rgb '#e8a33d' title 'wrong', \
         keyentry with boxes lc rgb BAD title 'not finite'
}
unset multiplot
