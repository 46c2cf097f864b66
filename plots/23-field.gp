# alt: TFLOP/s of every candidate of the tuner against the length S, without a mask, two panels, D = 64 and D = 128. The candidates are points, spread over a wide range at each length. A line joins the winners, one the candidate with the tile of step 22, one FlashAttention-2. Candidates that were refused are red at the bottom, as many as there are: crosses where registers spill, plus signs where shared memory is too small.
# data: step-23.tsv tuned-flash.tsv peers-flash.tsv
load 'plots/style.gp'
w(D) = sprintf(' B=4 H=8 D=%d causal=0', D)
tried(D) = rows('step-23.tsv', 'clock=graph l2=warm' . w(D), 'Sk median_us')
# Refused candidates are side by side, at one height for each reason. All others are below the axis, so that the
# data are never empty.
refused(D) = rows('step-23.tsv', 'clock=-' . w(D), 'Sk status') . ' | awk ''!/refused/ { print $1, -99, -99, -99 } \
    /refused/ { spills = /spills/; print $1 * 2 ^ (0.16 * n[$1, spills]++ - 0.3), -99, spills ? 12 : -99, spills ? -99 : 34 }'''
table(D, us) = rows('tuned-flash.tsv', w(D), 'Sk ' . us)
# FlashAttention-2 at the lengths of the candidates.
peer(D) = rows('peers-flash.tsv', 'variant=flash-attention-2 clock=graph l2=warm Sk!=1024 Sk!=4096' . w(D), 'Sk median_us')
rate(S, D, us) = 4e-6 * 4 * 8 * S * S * D / us
set logscale x 2
set xrange [360:23000]
set xtics ('512' 512, '2k' 2048, '8k' 8192)
set yrange [0:450]
set ytics 100
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set multiplot
unset title
set tmargin at screen 0.93
set bmargin at screen 0.36
set xlabel 'S'
do for [p = 1:2] {
    D = 64 * p
    set lmargin at screen (p == 1 ? 0.165 : 0.59)
    set rmargin at screen (p == 1 ? 0.555 : 0.98)
    if (p == 2) { set format y ''; unset ylabel; unset label 99; unset key } else { set ylabel 'TFLOP/s' offset 1.6, 0 }
    if (p == 1) { set key at screen 0.52, 0.005 bottom center maxrows 3 samplen 2.2 width -1 }
    set label 1 sprintf('D = %d', D) at graph 0.04, 0.94 left font ',12' textcolor rgb INK
    plot tried(D) using 1:(rate($1, D, $2)) with points pt 7 ps 0.4 lc rgb '#4a5a78' notitle, \
         peer(D) using 1:(rate($1, D, $2)) with lines ls 2 notitle, \
         table(D, 'first_us') using 1:(rate($1, D, $2)) with lines ls 3 notitle, \
         table(D, 'us') using 1:(rate($1, D, $2)) with linespoints ls 1 notitle, \
         refused(D) using 1:3 with points ls FAILED ps 0.55 notitle, \
         refused(D) using 1:4 with points ls FAILED pt 1 ps 0.55 notitle, \
         keyentry with linespoints ls 1 title 'winner', \
         keyentry with lines ls 3 title 'tile of step 22', \
         keyentry with lines ls 2 title 'FlashAttention-2', \
         keyentry with points pt 7 ps 0.4 lc rgb '#4a5a78' title 'candidate', \
         keyentry with points ls FAILED title 'refused: it spills', \
         keyentry with points ls FAILED pt 1 title 'refused: memory'
}
unset multiplot
