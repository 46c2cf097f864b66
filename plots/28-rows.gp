# alt: Which elements of the last of three heads are wrong, in two panels of 300 rows and 64 columns: with one array of all heads rows 0 to 83 are wrong in nearly all columns and all others right; with a dimension for the heads nothing is wrong.
# data: step-28-map.tsv
load 'plots/style.gp'
# One block per variant, one digit per element. Equal neighbours in a row become one box.
runs(variant) = sprintf("< awk -v want=%s '/^#/ { on = $3 == want; next } on && NF { \
    from = 1; for (i = 2; i <= NF + 1; i++) if (i > NF || $i != $from) { print from - 1, i - 1, y, $from; from = i } \
    y++ }' '%s/step-28-map.tsv'", variant, datadir)
unset title
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set multiplot layout 1, 2 margins 0.16, 0.955, 0.2, 0.8 spacing 0.08
set xrange [0:64]
set yrange [300:0]
set xtics 16
set ytics (0, 84, 128, 256, 300)
set style fill solid noborder
unset grid
set border 15
set xlabel 'column'
set ylabel 'row' offset 1.5, 0
set key at screen 0.95, 0.925 top right horizontal maxrows 1 samplen 0.8 width -1
do for [i = 1:2] {
    if (i == 2) { unset label 99; unset key; unset ylabel; set format y '' }
    set label 1 (i == 1 ? 'all heads one array' : 'a dimension for heads') at graph 0.5, 1.05 center front font ",12" textcolor rgb INK
    plot runs(word('overwrites tma', i)) using ($1):($3):1:2:3:($3+1):($4 == 0 ? FAINTC : BADC) with boxxyerror lc rgb variable notitle, \
         keyentry with boxes lc rgb FAINT title 'right', \
         keyentry with boxes lc rgb BAD title 'wrong'
}
unset multiplot
