# alt: Bars of TFLOP/s at S = 8192 in four groups, D = 64 and 128, each without and with a causal mask. In each group stand two kernels that both compute delta, two kernels with delta computed once, the vector kernel of one pass, FlashAttention-2 and cuDNN. Flops are those of five products for all. One dashed line is the rate of the tensor cores, a dotted one five sevenths of it, the most that seven products can reach.
# data: step-25.tsv step-26.tsv peers-flash-backward.tsv ceilings.tsv
load 'plots/style.gp'
S = 8192
ways = 'reference-log two-kernels b-vector flash-attention-2 cudnn'
said = "'two, delta in both' 'two kernels' 'vector' 'FlashAttention-2' 'cuDNN'"
colours = '#5b626b #9c3f86 #0a5ea8 #c2480a #007a5e'
n = words(ways)
file(i) = i == 1 ? 'step-25.tsv' : i <= 3 ? 'step-26.tsv' : 'peers-flash-backward.tsv'
got(i) = rows(file(i), sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d clock=graph l2=warm', word(ways, i), S, S), \
    'D causal median_us p5_us p95_us')
rate(D, causal, us) = 10e-6 * 4 * 8 * S * S * D / (1 + causal) / us
at(D, causal, i) = (D / 64 - 1) * 2 + causal + (i - (n + 1) / 2.0) * 0.165
limit = ceiling('tensor_f16_tflops')
set ylabel 'TFLOP/s, S = 8192'
set yrange [0:limit * 1.08]
set ytics 200
set xrange [-0.55:3.55]
set xtics ('D = 64' 0, "D = 64\ncausal" 1, 'D = 128' 2, "D = 128\ncausal" 3) scale 0
set grid noxtics
set bmargin at screen 0.41
set key at screen 0.54, 0.005 bottom center maxrows 4 samplen 1.6 width 0
plot for [i = 1:n] got(i) \
         using (at($1, $2, i)):(rate($1, $2, $3)):(at($1, $2, i) - 0.075):(at($1, $2, i) + 0.075):(0):(rate($1, $2, $3)) \
         with boxxyerror lc rgb word(colours, i) title word(said, i), \
     for [i = 1:n] got(i) \
         using (at($1, $2, i)):(rate($1, $2, $5)):(0):(rate($1, $2, $4) - rate($1, $2, $5)) \
         with vectors nohead lc rgb INK lw 0.8 notitle, \
     limit with lines ls LIMIT title 'limit', \
     limit * 5 / 7 with lines lc rgb INK lw 1.1 dt (2, 3) title '5/7 of it'
