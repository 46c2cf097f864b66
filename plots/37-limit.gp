# alt: Time with K rotated once over two others, against the length S on a logarithmic axis, two panels: forward and backward, D = 128. Over attention alone plus a pass over K the line stays near 1, under a dashed line at 1.02. Over PyTorch's compiled RoPE and cuDNN it lies below 1, furthest at short lengths.
# data: step-37.tsv peers-long.tsv
load 'plots/style.gp'
once = 'rotate-k-once'
limit = 'attention k-pass' # the limit is the sum of their times
peers = 'compiled-cudnn'
said = "'compiled RoPE + cuDNN'"
lengths = '512 1024 2048 4096 8192 16384 32768 65536 131072'
at(pass, S) = sprintf('case=%s-D128-S%s l2=warm clock=graph ', pass, S)
ours(variant, pass, S) = real(cell('step-37.tsv', at(pass, S) . 'variant=' . variant, 'median_us'))
least(pass, S) = sum [i = 1:words(limit)] ours(word(limit, i), pass, S)
peer(i, pass, S) = real(cell('peers-long.tsv', at(pass, S) . 'step=37 variant=' . word(peers, i), 'median_us'))
passes = 'forward backward'
set print $all
do for [p = 1:2] {
    do for [i = 0:words(peers)] {
        do for [k = 1:words(lengths)] {
            S = word(lengths, k)
            print S, ours(once, word(passes, p), S) / (i == 0 ? least(word(passes, p), S) : peer(i, word(passes, p), S))
        }
        print ''
        print ''
    }
}
unset print
block(p, i) = (words(peers) + 1) * (p - 1) + i
set logscale x 2
set xrange [360:185000]
set xtics ('512' 512, '4k' 4096, '32k' 32768)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set label 98 'time of K once / that of' at screen 0.03, 0.59 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.56, 0.235 center font ',13' textcolor rgb INK
set key at screen 0.55, 0.005 bottom center maxrows 3 samplen 2.2 width 0
stats $all using 2 nooutput
set yrange [floor(20 * STATS_min) / 20.0 - 0.02:ceil(20 * STATS_max) / 20.0 + 0.02]
set ytics 0.1
set tmargin at screen 0.87
set bmargin at screen 0.345
set multiplot
unset title
do for [p = 1:2] {
    set lmargin at screen 0.135 + 0.435 * (p - 1)
    set rmargin at screen 0.135 + 0.435 * p - 0.025
    set format y (p == 1 ? '%.1f' : '')
    set label 1 word(passes, p) at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    plot 1.02 with lines ls LIMIT notitle, \
         for [i = 0:words(peers)] $all index block(p, i) using 1:2 with linespoints ls i + 1 ps 0.55 notitle, \
         keyentry with linespoints ls 1 title 'attention + pass over K', \
         for [i = 1:words(peers)] keyentry with linespoints ls i + 1 title word(said, i), \
         keyentry with lines ls LIMIT title '1.02, the goal'
    do for [i = 97:99] { unset label i }
    unset key
}
unset multiplot
