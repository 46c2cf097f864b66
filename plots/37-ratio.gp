# alt: How many times as fast K once is as each of four rivals, at D = 128, against the length S on logarithmic axes, two panels: forward and backward. Forward, over RoPE op by op it falls from above 5 at 512 to just above 1 at 131,072; over one RoPE kernel it is 1.2 at 512 and comes down to 1; over compiled RoPE and cuDNN it stays above 1.1; over eager RoPE and FlashAttention-2 it falls from above 10 to 2. Backward, op by op falls from above 2 to 1, one RoPE kernel lies on 1, compiled RoPE and cuDNN at 1.2, eager RoPE and FlashAttention-2 falls from 4 to 2. No line is below the dashed line at 1.
# data: step-37.tsv peers-long.tsv
load 'plots/style.gp'
lengths = '512 1024 2048 4096 8192 16384 32768 65536 131072'
# Short calls are measured in graphs, long ones alone and sustained, on both sides.
clock(S) = S < 2048 ? 'graph' : 'sustained'
at(pass, S) = sprintf('case=%s-D128-S%d l2=warm clock=%s ', pass, S, clock(S))
ours(variant, pass, S) = real(cell('step-37.tsv', at(pass, S) . 'variant=' . variant, 'median_us'))
peer(variant, pass, S) = real(cell('peers-long.tsv', at(pass, S) . 'step=37 variant=' . variant, 'median_us'))
rivals = 'op-by-op one-kernel compiled-cudnn eager-flash-attention-2'
said = "'RoPE op by op' 'one RoPE kernel' 'compiled + cuDNN' 'eager + FA-2'"
style = '6 3 2 4'
over(i, pass, S) = (i > 2 ? peer(word(rivals, i), pass, S) : ours(word(rivals, i), pass, S)) / \
    ours('rotate-k-once', pass, S)
passes = 'forward backward'
set print $all
do for [pass in passes] {
    do for [i = 1:4] {
        do for [S in lengths] { print S, over(i, pass, int(S)) }
        print ''
        print ''
    }
}
unset print
set logscale x 2
set logscale y
set xrange [360:185000]
set xtics ('512' 512, '4k' 4096, '32k' 32768)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set label 98 'K once, times as fast' at screen 0.03, 0.6 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.56, 0.265 center font ',13' textcolor rgb INK
set key at screen 0.55, 0.005 bottom center maxrows 3 samplen 2.2 width -2
stats $all using 2 nooutput
set yrange [0.85 * (STATS_min < 1 ? STATS_min : 1):1.25 * STATS_max]
set ytics (0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12)
set tmargin at screen 0.87
set bmargin at screen 0.375
set multiplot
unset title
do for [p = 1:2] {
    set lmargin at screen 0.135 + 0.435 * (p - 1)
    set rmargin at screen 0.135 + 0.435 * p - 0.025
    if (p == 2) { set format y '' }
    set label 1 word(passes, p) at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    plot 1 with lines ls LIMIT notitle, \
         for [i = 1:4] $all index 4 * (p - 1) + i - 1 using 1:2 with linespoints ls int(word(style, i)) ps 0.55 notitle, \
         for [i = 1:4] keyentry with linespoints ls int(word(style, i)) title word(said, i), \
         keyentry with lines ls LIMIT title 'as fast as K once'
    do for [i = 97:99] { unset label i }
    unset key
}
unset multiplot
