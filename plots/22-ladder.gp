# alt: TFLOP/s of each way to compute attention at S = 8192 without a mask, on a logarithmic axis: flash of step 21, the five kernels of step 22 (fragments, shared-tile, swizzle, async, registers), FlashAttention-2 and cuDNN, for D = 64 and 128. The fragments kernel and the shared-tile kernel are level, from there to the swizzle kernel is the largest step, and the registers kernel stands beside FlashAttention-2. A dashed line is the rate that mma.sync reaches alone.
# data: step-21.tsv step-22.tsv peers-flash.tsv ceilings.tsv
load 'plots/style.gp'
S = 8192
ways = 'flash a-fragments b-shared c-swizzle d-async e-registers flash-attention-2 cudnn'
said = "flash fragments shared-tile swizzle async registers FlashAttention-2 cuDNN"
n = words(ways)
file(i) = i <= 1 ? 'step-21.tsv' : i <= 6 ? 'step-22.tsv' : 'peers-flash.tsv'
where(i, D) = sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=0 clock=graph l2=warm', word(ways, i), S, S, D)
tflops(i, D) = 4e-6 * 4 * 8 * S * S * D / real(cell(file(i), where(i, D), 'median_us'))
set ylabel 'TFLOP/s, S = 8192' offset 1.7, 0
set logscale y
set yrange [10:3000]
set xrange [0:n + 0.6]
set xtics () scale 0 font ',12' rotate by 40 right offset 0.6, 0
do for [i = 1:n] { set xtics add (word(said, i) i) }
set bmargin at screen 0.36
set lmargin 7.5
set rmargin 1.6
set arrow 1 from 1.5, graph 0 to 1.5, graph 1 nohead lc rgb GRID lw 0.7
set arrow 2 from 6.5, graph 0 to 6.5, graph 1 nohead lc rgb GRID lw 0.7
set grid noxtics
set label 1 'step 21' at 0.77, graph 0.93 center font ',12' textcolor rgb SOFT
set label 2 'step 22' at 4, graph 0.93 center font ',12' textcolor rgb SOFT
set label 3 'PyTorch' at 7.6, graph 0.93 center font ',12' textcolor rgb SOFT
set key at screen 0.54, 0.005 bottom center maxrows 1 samplen 2.2 width 1
set print $all
do for [k = 1:2] {
    do for [i = 1:n] {
        if (i == 2 || i == 7) { print '' }
        print sprintf('%g %g', i, tflops(i, 64 * k))
    }
    print ''
    print ''
}
unset print
plot for [k = 1:2] $all index k - 1 using 1:2 with linespoints ls k title sprintf('D = %d', 64 * k), \
     ceiling('mma_f16_tflops') with lines ls LIMIT title 'mma.sync'
