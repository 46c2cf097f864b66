# alt: Time with K rotated once over that of others, against the length S on a logarithmic axis, two panels: forward and backward. Forward, over attention alone plus the pass over K: at D = 128 a line falls from above 1.1 at 512 and is under a dashed line, the goal, from 8192 on; at D = 64 it begins lower and keeps to the dashed line or below from 1024 on. Backward, over one RoPE kernel behind the gradient: at 1 or below at every length. In both panels the lines over PyTorch's compiled RoPE and cuDNN lie below 1 at every length.
# data: step-37.tsv peers-long.tsv
load 'plots/style.gp'
lengths(D) = D == 64 ? '512 1024 2048 4096 8192' : '512 1024 2048 4096 8192 16384 32768 65536 131072'
# Short calls are measured in graphs, long ones sustained, on both sides; the pass over k in graphs.
clock(S) = S < 2048 ? 'graph' : 'sustained'
at(pass, D, S, clock) = sprintf('case=%s-D%d-S%d l2=warm clock=%s ', pass, D, S, clock)
ours(variant, pass, D, S) = real(cell('step-37.tsv', at(pass, D, S, clock(S)) . 'variant=' . variant, 'median_us'))
keys(D, S) = real(cell('step-37.tsv', at('keys', D, S, 'graph') . 'variant=pass-over-k', 'median_us'))
peer(pass, D, S) = real(cell('peers-long.tsv', at(pass, D, S, clock(S)) . 'step=37 variant=compiled-cudnn', 'median_us'))
least(pass, D, S) = pass eq 'forward' ? ours('attention', pass, D, S) + keys(D, S) : ours('one-kernel', pass, D, S)
of(i, pass, D, S) = ours('rotate-k-once', pass, D, S) / (i == 1 ? least(pass, D, S) : peer(pass, D, S))
passes = 'forward backward'
set print $all
do for [p = 1:2] {
    do for [D = 64:128:64] {
        do for [i = 1:2] {
            do for [S in lengths(D)] { print S, of(i, word(passes, p), D, int(S)) }
            print ''
            print ''
        }
    }
}
unset print
block(p, D, i) = 4 * (p - 1) + (D == 64 ? 0 : 2) + i - 1
set style line 11 lc rgb '#0a5ea8' lw 0.9 dt 1 pt 6 ps 0.45
set style line 12 lc rgb '#c2480a' lw 0.9 dt (9, 3) pt 4 ps 0.4
set style line 13 lc rgb '#007a5e' lw 0.9 dt (5, 3) pt 8 ps 0.5
set logscale x 2
set xrange [360:185000]
set xtics ('512' 512, '4k' 4096, '32k' 32768)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set label 98 'time of K once / that of' at screen 0.03, 0.59 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.56, 0.265 center font ',13' textcolor rgb INK
set key at screen 0.55, 0.005 bottom center maxrows 3 samplen 2.2 width -2
stats $all using 2 nooutput
set yrange [floor(20 * STATS_min) / 20.0 - 0.02:ceil(20 * STATS_max) / 20.0 + 0.02]
set ytics 0.1
set tmargin at screen 0.87
set bmargin at screen 0.375
set multiplot
unset title
do for [p = 1:2] {
    set lmargin at screen 0.135 + 0.435 * (p - 1)
    set rmargin at screen 0.135 + 0.435 * p - 0.025
    set format y (p == 1 ? '%.1f' : '')
    set label 1 word(passes, p) at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    first = p == 1 ? 1 : 3 # style of what is divided by first
    plot 1.02 with lines ls LIMIT notitle, \
         $all index block(p, 64, 1) using 1:2 with linespoints ls 10 + first notitle, \
         $all index block(p, 64, 2) using 1:2 with linespoints ls 12 notitle, \
         $all index block(p, 128, 1) using 1:2 with linespoints ls first ps 0.55 notitle, \
         $all index block(p, 128, 2) using 1:2 with linespoints ls 2 ps 0.55 notitle, \
         keyentry with linespoints ls 1 title 'attention + pass over K', \
         keyentry with linespoints ls 3 title 'one RoPE kernel', \
         keyentry with linespoints ls 2 title 'compiled RoPE + cuDNN', \
         keyentry with linespoints ls 11 title 'thin: D = 64', \
         keyentry with lines ls LIMIT title '1.02, the goal'
    do for [i = 97:99] { unset label i }
    unset key
}
unset multiplot
