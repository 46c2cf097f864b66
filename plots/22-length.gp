# alt: TFLOP/s against the length S, two panels, D = 64 and D = 128. In each the registers kernel of step 22, FlashAttention-2 and cuDNN, without a mask. All rise with S and level off. A dashed line is the rate that mma.sync reaches alone.
# data: step-22.tsv peers-flash.tsv ceilings.tsv
load 'plots/style.gp'
ways = 'e-registers flash-attention-2 cudnn'
said = "'registers kernel' 'FlashAttention-2' 'cuDNN'"
file(i) = i == 1 ? 'step-22.tsv' : 'peers-flash.tsv'
got(i, D) = rows(file(i), sprintf('variant=%s B=4 H=8 D=%d causal=0 clock=graph l2=warm', word(ways, i), D), \
    'Sk median_us p5_us p95_us')
rate(S, D, us) = 4e-6 * 4 * 8 * S * S * D / us
set logscale x 2
set xrange [400:21000]
set xtics ('512' 512, '2k' 2048, '8k' 8192)
set mxtics default
set yrange [0:900]
set ytics 200
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set multiplot
unset title
set tmargin at screen 0.93
set bmargin at screen 0.34
set xlabel 'S'
do for [p = 1:2] {
    D = 64 * p
    set lmargin at screen (p == 1 ? 0.165 : 0.59)
    set rmargin at screen (p == 1 ? 0.555 : 0.98)
    if (p == 2) { set format y ''; unset ylabel; unset label 99 } else { set ylabel 'TFLOP/s' offset 1.6, 0 }
    set label 1 sprintf('D = %d', D) at graph 0.04, 0.94 left font ',12' textcolor rgb INK
    set key at screen 0.5, 0.005 bottom center maxrows 2 samplen 2.2 width 1
    if (p == 2) { unset key }
    plot for [i = 1:3] got(i, D) using 1:(rate($1, D, $2)):(rate($1, D, $4)):(rate($1, D, $3)) \
             with yerrorlines ls i notitle, \
         ceiling('mma_f16_tflops') with lines ls LIMIT notitle, \
         for [i = 1:3] keyentry with linespoints ls i title word(said, i), \
         keyentry with lines ls LIMIT title 'mma.sync'
}
unset multiplot
