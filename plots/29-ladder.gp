# alt: TFLOP/s at S = 8192 of every stage from naive attention (D = 64 only) to cuDNN: the kernels of steps 21, 22, 23 and 28, the six kernels of step 29, FlashAttention-2 and cuDNN, for D = 64 and 128, with and without a causal mask. The line rises from left to right; all six are above FlashAttention-2, and the overlap, persistent and work-tiles kernels above cuDNN. A dashed line is the rate of the tensor cores.
# data: step-21.tsv step-22.tsv step-28.tsv step-29.tsv peers-flash.tsv ceilings.tsv
load 'plots/style.gp'
S = 8192
ways = 'naive flash e-registers threads tma a-one-role b-producer c-ping-pong d-overlap e-persistent g-work-tiles flash-attention-2 cudnn'
said = 'naive 21 22 23 28 one-role producer ping-pong overlap persistent work-tiles FA2 cuDNN'
n = words(ways)
file(i) = i <= 2 ? 'step-21.tsv' : i == 3 ? 'step-22.tsv' : i <= 5 ? 'step-28.tsv' : i <= 11 ? 'step-29.tsv' : 'peers-flash.tsv'
where(i, D, causal) = sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=%d clock=graph l2=warm', word(ways, i), S, S, D, causal)
t(i, D, causal) = real(cell(file(i), where(i, D, causal), 'median_us'))
tflops(i, D, causal) = 4e-6 * 4 * 8 * S * S * D / (1 + causal) / t(i, D, causal)
set ylabel 'TFLOP/s, S = 8192'
set yrange [0:ceiling('tensor_f16_tflops') * 1.16]
set xrange [0.6:n + 0.5]
set xtics () scale 0 font ',12' rotate by 90 right offset 0, 0.2
set bmargin at screen 0.44
do for [i = 1:n] { set xtics add (word(said, i) i) }
set arrow 1 from 5.5, graph 0 to 5.5, graph 1 nohead lc rgb GRID lw 0.7
set arrow 2 from 11.5, graph 0 to 11.5, graph 1 nohead lc rgb GRID lw 0.7
set grid noxtics
set label 1 'steps' at 3.2, graph 0.94 center font ',12' textcolor rgb SOFT
set label 2 'step 29' at 8.5, graph 0.94 center font ',12' textcolor rgb SOFT
set label 3 'PyTorch' at 12.5, graph 0.94 center font ',12' textcolor rgb SOFT
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.2 width 0
array Ds[4] = [128, 64, 128, 64]
set print $all
do for [k = 1:4] {
    do for [part = 1:3] {
        do for [i = (part == 1 ? (Ds[k] == 64 ? 1 : 2) : part == 2 ? 6 : 12):(part == 1 ? 5 : part == 2 ? 11 : 13)] {
            print sprintf('%d %g', i, tflops(i, Ds[k], k > 2))
        }
        print ''
    }
    print ''
}
unset print
style(k) = word('1 3 2 5', k) + 0
plot ceiling('tensor_f16_tflops') with lines ls LIMIT title 'limit', \
     for [k = 1:4] $all index k - 1 using 1:2 with linespoints ls style(k) \
         title sprintf('%d%s', Ds[k], k > 2 ? ' causal' : '')
