# alt: TFLOP/s of each way to compute attention at S = 8192 without a mask, on a logarithmic axis: naive (D = 64 only), step 21's flash, the five rungs of step 22 from a to e, FlashAttention-2 and cuDNN, for D = 64 and 128. a and b are equal, from b to c is the largest step, and e stands beside FlashAttention-2. Below each name stands what holds it at D = 64, S = 2048, by a counter: the pipe of cache and shared memory for flash and a, bank conflicts for b, waits for memory for c and for shared memory for d; and how busy the tensor cores are in e. A dashed line is the rate of the tensor cores.
# data: step-21.tsv step-22.tsv peers-flash.tsv ceilings.tsv step-21-profile.tsv step-22-profile.tsv
load 'plots/style.gp'
S = 8192
ways = 'naive flash a-fragments b-shared c-swizzle d-async e-registers flash-attention-2 cudnn'
said = 'naive flash a b c d e FA2 cuDNN'
n = words(ways)
file(i) = i <= 2 ? 'step-21.tsv' : i <= 7 ? 'step-22.tsv' : 'peers-flash.tsv'
where(i, D) = sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=0 clock=graph l2=warm', word(ways, i), S, S, D)
tflops(i, D) = 4e-6 * 4 * 8 * S * S * D / real(cell(file(i), where(i, D), 'median_us'))
set ylabel 'TFLOP/s, S = 8192' offset 1.7, 0
set logscale y
set yrange [0.5:5000]
at(i) = i == 1 ? 0.7 : i == 2 ? 1.85 : i == n ? n + 0.3 : i # names at both ends are long
set xrange [0.4:n + 0.6]
set xtics () scale 0 font ',12'
set bmargin at screen 0.34
set lmargin 7.5
set rmargin 1.6
seen(i, col) = real(cell(i < 3 ? 'step-21-profile.tsv' : 'step-22-profile.tsv', sprintf('variant=%s case=D64-S2048 kernel=all', word(ways, i)), col))
held(i) = i == 2 || i == 3 ? sprintf("pipe\n%.0f %%%%", seen(i, 'pipe_pct')) : \
    i == 4 ? sprintf("bank\n%.0f %%%%", 100 * seen(i, 'conflicts') / seen(i, 'wavefronts')) : \
    i == 5 ? sprintf("load\n%.1f", seen(i, 'stall_memory')) : \
    i == 6 ? sprintf("P\n%.1f", seen(i, 'stall_shared')) : \
    i == 7 ? sprintf("mma\n%.0f %%%%", seen(i, 'tensor_pct')) : ''
do for [i = 1:n] { set xtics add (word(said, i) . "\n" . held(i) at(i)) }
set arrow 1 from 2.5, graph 0 to 2.5, graph 1 nohead lc rgb GRID lw 0.7
set arrow 2 from 7.5, graph 0 to 7.5, graph 1 nohead lc rgb GRID lw 0.7
set grid noxtics
set label 1 'step 21' at 1.4, graph 0.93 center font ',12' textcolor rgb SOFT
set label 2 'step 22' at 5, graph 0.93 center font ',12' textcolor rgb SOFT
set label 3 'PyTorch' at 8.6, graph 0.93 center font ',12' textcolor rgb SOFT
set key at screen 0.54, 0.005 bottom center maxrows 1 samplen 2.2 width 1
set print $all
do for [k = 1:2] {
    do for [i = k:n] {
        if (i == 3 || i == 8) { print '' }
        print sprintf('%g %g', at(i), tflops(i, 64 * k))
    }
    print ''
    print ''
}
unset print
plot for [k = 1:2] $all index k - 1 using 1:2 with linespoints ls k title sprintf('D = %d', 64 * k), \
     ceiling('tensor_f16_tflops') with lines ls LIMIT title 'limit'
