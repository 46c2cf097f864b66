# alt: TFLOP/s of ours, cuDNN and FlashAttention-2 against the length S from 512 to 16,384, without a mask. Six panels: forward, backward and both passes in one call, at D = 64 above and D = 128 below.
# data: step-31.tsv peers-hopper.tsv
load 'plots/style.gp'
if (!exists('causal')) causal = 0 # 31-field-causal.gp has 1
passes = 'forward backward both'
# Short calls are measured in graphs, long ones alone and sustained, for all implementations.
clocks = 'graph sustained'
w(p, D) = sprintf('l2=warm B=4 H=8 D=%d causal=%d ', D, causal)
of_lengths(k) = k == 1 ? ' | awk ''$1 < 2048''' : ' | awk ''$1 >= 2048'''
us(k) = word(clocks, k)
ours(p, D, k) = rows('step-31.tsv', w(p, D) . 'clock=' . us(k) . ' variant=' . word(passes, p), 'Sk flops median_us') . of_lengths(k)
peer(p, D, k, v) = rows('peers-hopper.tsv', w(p, D) . 'place=only clock=' . us(k) . sprintf(' step=%d variant=', 28 + p) . v, 'Sk flops median_us') . of_lengths(k)
both(a, b) = '< ( ' . a[3:] . ' ; ' . b[3:] . ' )'
set logscale x 2
set xrange [360:23000]
set yrange [0:760]
set ytics 200
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set label 98 'TFLOP/s' at screen 0.035, 0.54 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.57, 0.115 center font ',13' textcolor rgb INK
set key at screen 0.5, 0.005 bottom center maxrows 1 samplen 1.6 width -9
set multiplot
unset title
do for [D = 64:128:64] {
    set tmargin at screen (D == 64 ? 0.865 : 0.525)
    set bmargin at screen (D == 64 ? 0.56 : 0.22)
    do for [p = 1:3] {
        set lmargin at screen 0.145 + 0.285 * (p - 1)
        set rmargin at screen 0.145 + 0.285 * p - 0.018
        set format y (p == 1 ? '%g' : '')
        set xtics ('512' 512, '2k' 2048, '8k' 8192)
        if (D == 64) { set xtics ('' 512, '' 2048, '' 8192) }
        unset label 1
        if (D == 64) { set label 1 word(passes, p) at graph 0.5, 1.08 center font ',12' textcolor rgb INK }
        set label 2 sprintf('D = %d', D) at graph 0.97, 0.1 right font ',12' textcolor rgb INK
        plot both(peer(p, D, 1, 'flash-attention-2'), peer(p, D, 2, 'flash-attention-2')) using 1:($2 / $3 * 1e-6) with linespoints ls 3 ps 0.55 notitle, \
             both(peer(p, D, 1, 'cudnn'), peer(p, D, 2, 'cudnn')) using 1:($2 / $3 * 1e-6) with linespoints ls 2 ps 0.45 notitle, \
             both(ours(p, D, 1), ours(p, D, 2)) using 1:($2 / $3 * 1e-6) with linespoints ls 1 ps 0.5 notitle, \
             keyentry with linespoints ls 1 title 'ours', \
             keyentry with linespoints ls 2 title 'cuDNN', \
             keyentry with linespoints ls 3 title 'FlashAttention-2'
        do for [i = 97:99] { unset label i }
        unset key
    }
}
unset multiplot
