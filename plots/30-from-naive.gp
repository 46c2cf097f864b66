# alt: TFLOP/s of the forward pass at S = 8192 without a mask, on a logarithmic axis, from the naive kernel over each rung of steps 21, 22, 23, 28 and 29 to FlashAttention-2 and cuDNN, one line for D = 64 and one for D = 128. Both rise from left to right; the last rungs of step 29 stand above cuDNN. A dashed line is the rate of the tensor cores.
# data: step-21.tsv step-22.tsv step-28.tsv step-29.tsv peers-flash.tsv ceilings.tsv
load 'plots/style.gp'
S = 8192
ways = 'naive flash a-fragments b-shared c-swizzle d-async e-registers threads tma-apart a-one-role b-producer c-ping-pong d-overlap e-persistent flash-attention-2 cudnn'
said = 'naive tiles a b c d e tuned TMA a b c d e FA2 cuDNN'
n = words(ways)
file(i) = i <= 2 ? 'step-21.tsv' : i <= 7 ? 'step-22.tsv' : i <= 9 ? 'step-28.tsv' : i <= 14 ? 'step-29.tsv' : 'peers-flash.tsv'
where(i, D) = sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=0 clock=graph l2=warm', word(ways, i), S, S, D)
tflops(i, D) = 4e-6 * 4 * 8 * S * S * D / real(cell(file(i), where(i, D), 'median_us'))
set ylabel 'TFLOP/s, S = 8192'
set logscale y
set yrange [0.3:1500]
set xrange [0.6:n + 0.4]
set xtics () scale 0 font ',12' rotate by 90 right
set bmargin 5
do for [i = 1:n] { set xtics add (word(said, i) i) }
array border[5] = [2.5, 7.5, 8.5, 9.5, 14.5]
do for [k = 1:5] { set arrow k from border[k], graph 0 to border[k], graph 1 nohead lc rgb GRID lw 0.7 }
set grid noxtics
array middle[6] = [1.5, 5, 8, 9, 12, 15.5]
names = '21 22 23 28 29 SDPA'
do for [k = 1:6] { set label k word(names, k) at middle[k], graph 0.05 center font ',12' textcolor rgb SOFT }
set key at graph 0.99, 0.16 bottom right maxrows 3 samplen 2 width 0
set print $all
do for [D = 64:128:64] {
    do for [part = 1:2] {
        do for [i = (part == 1 ? (D == 64 ? 1 : 2) : 15):(part == 1 ? 14 : n)] {
            print sprintf('%d %g', i, tflops(i, D))
        }
        print ''
    }
    print ''
}
unset print
plot ceiling('tensor_f16_tflops') with lines ls LIMIT title 'limit', \
     $all index 1 using 1:2 with linespoints ls 1 title 'D = 128', \
     $all index 0 using 1:2 with linespoints ls 3 title 'D = 64'
