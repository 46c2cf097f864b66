# alt: How many times as fast as cuDNN ours is, against the length S from 512 to 16,384, three panels: forward, backward and both passes in one call. Four lines in each, D = 64 and 128, each without and with a causal mask. Above the dashed line at 1 ours is faster.
# data: step-31.tsv peers-hopper.tsv
load 'plots/style.gp'
lengths = '512 1024 2048 4096 8192 16384'
passes = 'forward backward both'
w(S, D, causal) = sprintf('l2=warm B=4 H=8 Sq=%s Sk=%s D=%d causal=%d clock=%s ', S, S, D, causal, S < 2048 ? 'graph' : 'sustained')
ours(p, S, D, causal) = real(cell('step-31.tsv', w(S, D, causal) . 'variant=' . word(passes, p), 'median_us'))
cudnn(p, S, D, causal) = real(cell('peers-hopper.tsv', w(S, D, causal) . sprintf('place=only variant=cudnn step=%d', 28 + p), 'median_us'))
set print $all
do for [p = 1:3] {
    do for [k = 1:4] {
        D = k > 2 ? 128 : 64
        causal = (k + 1) % 2
        do for [i = 1:words(lengths)] {
            S = word(lengths, i)
            print sprintf('%s %g', S, cudnn(p, S, D, causal) / ours(p, S, D, causal))
        }
        print ''
        print ''
    }
}
unset print
set logscale x 2
set xrange [360:23000]
set xtics ('512' 512, '2k' 2048, '8k' 8192)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set label 98 'times as fast as cuDNN' at screen 0.03, 0.56 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.56, 0.195 center font ',13' textcolor rgb INK
set key at screen 0.55, 0.005 bottom center maxrows 2 samplen 2.2 width 0
stats $all using 2 nooutput
set yrange [floor(10 * STATS_min) / 10.0 - 0.05:ceil(10 * STATS_max) / 10.0 + 0.05]
set ytics 0.2
set tmargin at screen 0.855
set bmargin at screen 0.305
set multiplot
unset title
do for [p = 1:3] {
    set lmargin at screen 0.125 + 0.29 * (p - 1)
    set rmargin at screen 0.125 + 0.29 * p - 0.018
    set format y (p == 1 ? '%.1f' : '')
    set label 1 word(passes, p) at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    plot 1 with lines ls LIMIT notitle, \
         for [k = 1:4] $all index 4 * (p - 1) + k - 1 using 1:2 with linespoints ls k ps 0.55 notitle, \
         for [k = 1:4] keyentry with linespoints ls k title sprintf('D = %d%s', k > 2 ? 128 : 64, k % 2 ? '' : ', causal')
    do for [i = 97:99] { unset label i }
    unset key
}
unset multiplot
