# alt: Time of cuDNN over that of rung d, by length from 512 to 16384, four lines: D = 64 and 128, each without and with a causal mask. Above the dashed line at 1 rung d is faster.
# data: step-30.tsv peers-flash-backward.tsv
load 'plots/style.gp'
lengths = '512 1024 2048 4096 8192 16384'
us(file, variant, S, D, causal) = real(cell(file, sprintf('variant=%s B=4 H=8 Sq=%s Sk=%s D=%d causal=%d clock=graph l2=warm', variant, S, S, D, causal), 'median_us'))
set print $all
do for [k = 1:4] {
    D = k > 2 ? 128 : 64
    causal = (k + 1) % 2
    do for [i = 1:words(lengths)] {
        S = word(lengths, i)
        print sprintf('%s %g', S, us('peers-flash-backward.tsv', 'cudnn', S, D, causal) / us('step-30.tsv', 'd-late', S, D, causal))
    }
    print ''
    print ''
}
unset print
set xlabel 'S'
set ylabel 'time of cuDNN / time of d'
set logscale x 2
set xrange [450:18500]
set xtics ('512' 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192, '16k' 16384)
set mxtics default
set yrange [0:*]
set bmargin at screen 0.34
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.2 width 0
plot 1 with lines ls LIMIT notitle, \
     for [k = 1:4] $all index k - 1 using 1:2 with linespoints ls k title sprintf('D = %d%s', k > 2 ? 128 : 64, k % 2 ? '' : ', causal')
