# alt: TFLOP/s of the backward pass at S = 8192, counted as five products, sustained: step 26's one pass, the four rungs of step 30 from a to d, FlashAttention-2 and cuDNN, for D = 64 and 128, with and without a causal mask. The rungs rise from left to right. A dashed line is the rate of the tensor cores.
# data: step-30.tsv peers-flash-backward.tsv ceilings.tsv
load 'plots/style.gp'
S = 8192
ways = 'a-red b-bulk c-producer d-late flash-attention-2 cudnn'
said = 'a b c d FA2 cuDNN'
n = words(ways)
file(i) = i <= 4 ? 'step-30.tsv' : 'peers-flash-backward.tsv'
where(i, D, causal) = sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=%d clock=sustained l2=warm', word(ways, i), S, S, D, causal)
t(i, D, causal, col) = real(cell(file(i), where(i, D, causal), col))
tflops(i, D, causal, col) = 10e-6 * 4 * 8 * S * S * D / (1 + causal) / t(i, D, causal, col)
set ylabel 'TFLOP/s, S = 8192, sustained'
set yrange [0:*]
set xrange [0.7:n + 0.3]
set xtics () scale 0
do for [i = 1:n] { set xtics add (word(said, i) i) }
set arrow 1 from 4.5, graph 0 to 4.5, graph 1 nohead lc rgb GRID lw 0.7
set grid noxtics
set label 1 'step 30' at 2.5, graph 0.96 center font ',12' textcolor rgb SOFT
set label 2 'PyTorch' at 5.5, graph 0.96 center font ',12' textcolor rgb SOFT
set bmargin at screen 0.28
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.2 width 0
array Ds[4] = [128, 64, 128, 64]
set print $all
do for [k = 1:4] {
    do for [part = 1:2] {
        do for [i = (part == 1 ? 1 : 5):(part == 1 ? 4 : 6)] {
            print sprintf('%d %g', i, tflops(i, Ds[k], k > 2, 'median_us'))
        }
        print ''
    }
    print ''
}
unset print
plot for [k = 1:4] $all index k - 1 using 1:2 with linespoints ls k title sprintf('D = %d%s', Ds[k], k > 2 ? ', causal' : '')
