# alt: TFLOP/s of the backward pass against the length S, counted as five products, two panels, D = 64 and D = 128. In each two kernels with delta computed once, one pass with atomic adds, FlashAttention-2 and cuDNN, without a mask with full points and lines, causal with open points and dotted lines. All rise with S and level off. A dashed line is the rate of the tensor cores.
# data: step-26.tsv peers-flash-backward.tsv ceilings.tsv
load 'plots/style.gp'
ways = 'b-vector flash-attention-2 cudnn two-kernels'
said = "'one pass' 'FlashAttention-2' 'cuDNN' 'two kernels'"
n = words(ways)
file(i) = i == 1 || i == 4 ? 'step-26.tsv' : 'peers-flash-backward.tsv'
got(i, D, causal) = rows(file(i), sprintf('variant=%s B=4 H=8 D=%d causal=%d clock=graph l2=warm', word(ways, i), D, causal), \
    'Sk median_us p5_us p95_us')
rate(S, D, causal, us) = 10e-6 * 4 * 8 * S * S * D / (1 + causal) / us
set style line 11 lc rgb '#0a5ea8' lw 1.1 dt (2, 3) pt 6 ps 0.6
set style line 12 lc rgb '#c2480a' lw 1.1 dt (2, 3) pt 4 ps 0.55
set style line 13 lc rgb '#007a5e' lw 1.1 dt (2, 3) pt 8 ps 0.65
set style line 14 lc rgb '#9c3f86' lw 1.1 dt (2, 3) pt 12 ps 0.65
set logscale x 2
set xrange [400:21000]
set xtics ('512' 512, '2k' 2048, '8k' 8192)
set mxtics default
set yrange [0:850]
set ytics 200
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set multiplot
unset title
set tmargin at screen 0.93
set bmargin at screen 0.36
set xlabel 'S'
do for [p = 1:2] {
    D = 64 * p
    set lmargin at screen (p == 1 ? 0.165 : 0.59)
    set rmargin at screen (p == 1 ? 0.555 : 0.98)
    if (p == 2) { set format y ''; unset ylabel; unset label 99 } else { set ylabel 'TFLOP/s' offset 1.6, 0 }
    set label 1 sprintf('D = %d', D) at graph 0.04, 0.94 left font ',12' textcolor rgb INK
    set key at screen 0.5, 0.005 bottom center maxrows 3 samplen 2.2 width 1
    if (p == 2) { unset key }
    plot for [c = 0:1] for [i = 1:n] got(i, D, c) using 1:(rate($1, D, c, $2)):(rate($1, D, c, $4)):(rate($1, D, c, $3)) \
             with yerrorlines ls 10 * c + i notitle, \
         ceiling('tensor_f16_tflops') with lines ls LIMIT notitle, \
         for [i = 1:n] keyentry with linespoints ls i title word(said, i), \
         keyentry with linespoints ls 11 title 'causal', \
         keyentry with lines ls LIMIT title 'limit'
}
unset multiplot
