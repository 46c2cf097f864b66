# alt: TFLOP/s of each way to compute attention at S = 8192, on a logarithmic axis: naive (D = 64 only), step 21's flash, the five rungs of step 22 from a to e, FlashAttention-2 and cuDNN, for D = 64 and 128, with and without a causal mask. The rungs rise from left to right. Below each name stands what holds it at D = 64, S = 2048, by a counter: the pipe of cache and shared memory for flash and a, bank conflicts for b, waits for memory for c and for shared memory for d; and how busy the tensor cores are in e. A dashed line is the rate of the tensor cores.
# data: step-21.tsv step-22.tsv peers-flash.tsv ceilings.tsv step-21-profile.tsv step-22-profile.tsv
load 'plots/style.gp'
S = 8192
ways = 'naive flash a-fragments b-shared c-swizzle d-async e-registers flash-attention-2 cudnn'
said = 'naive flash a b c d e FA2 cuDNN'
n = words(ways)
file(i) = i <= 2 ? 'step-21.tsv' : i <= 7 ? 'step-22.tsv' : 'peers-flash.tsv'
where(i, D, causal) = sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=%d clock=graph l2=warm', word(ways, i), S, S, D, causal)
t(i, D, causal, col) = real(cell(file(i), where(i, D, causal), col))
tflops(i, D, causal, col) = 4e-6 * 4 * 8 * S * S * D / (1 + causal) / t(i, D, causal, col)
set ylabel 'TFLOP/s, S = 8192'
set logscale y
set yrange [1:1500]
set xrange [0.7:n + 0.4]
set xtics () scale 0 font ',12'
set bmargin 4
seen(i, col) = real(cell(i < 3 ? 'step-21-profile.tsv' : 'step-22-profile.tsv', sprintf('variant=%s case=D64-S2048 kernel=all', word(ways, i)), col))
held(i) = i == 2 || i == 3 ? sprintf("pipe\n%.0f %%%%", seen(i, 'pipe_pct')) : \
    i == 4 ? sprintf("bank\n%.0f %%%%", 100 * seen(i, 'conflicts') / seen(i, 'wavefronts')) : \
    i == 5 ? sprintf("load\n%.1f", seen(i, 'stall_memory')) : \
    i == 6 ? sprintf("P\n%.1f", seen(i, 'stall_shared')) : \
    i == 7 ? sprintf("mma\n%.0f %%%%", seen(i, 'tensor_pct')) : ''
do for [i = 1:n] { set xtics add (word(said, i) . "\n" . held(i) i) }
set arrow 1 from 2.5, graph 0 to 2.5, graph 1 nohead lc rgb GRID lw 0.7
set arrow 2 from 7.5, graph 0 to 7.5, graph 1 nohead lc rgb GRID lw 0.7
set grid noxtics
set label 1 'step 21' at 1.5, graph 0.96 center font ',12' textcolor rgb SOFT
set label 2 'step 22' at 5, graph 0.96 center font ',12' textcolor rgb SOFT
set label 3 'PyTorch' at 8.5, graph 0.96 center font ',12' textcolor rgb SOFT
set key at graph 0.99, 0.13 bottom right maxrows 5 samplen 2 width 0
array Ds[4] = [128, 64, 128, 64]
set print $all
do for [k = 1:4] {
    do for [part = 1:3] {
        do for [i = (part == 1 ? (Ds[k] == 64 ? 1 : 2) : part == 2 ? 3 : 8):(part == 1 ? 2 : part == 2 ? 7 : 9)] {
            print sprintf('%d %g', i, tflops(i, Ds[k], k > 2, 'median_us'))
        }
        print ''
    }
    print ''
}
unset print
style(k) = word('1 3 2 5', k) + 0
plot ceiling('tensor_f16_tflops') with lines ls LIMIT title 'limit', \
     for [k = 1:4] $all index k - 1 using 1:2 with linespoints ls style(k) \
         title sprintf('D = %d%s', Ds[k], k > 2 ? ', causal' : '')
