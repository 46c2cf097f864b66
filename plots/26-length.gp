# alt: TFLOP/s of the backward pass against the length S, counted as five products, four panels: D = 64 above and D = 128 below, without a mask on the left and causal on the right. In each two kernels with delta computed once, the vector kernel of one pass, FlashAttention-2 and cuDNN. All rise with S and level off. A line without points is the rate of the tensor cores.
# data: step-26.tsv peers-flash-backward.tsv ceilings.tsv
tall = 400
load 'plots/style.gp'
ways = 'b-vector flash-attention-2 cudnn two-kernels'
said = "'vector' 'FlashAttention-2' 'cuDNN' 'two kernels'"
n = words(ways)
file(i) = i == 1 || i == 4 ? 'step-26.tsv' : 'peers-flash-backward.tsv'
got(i, D, causal) = rows(file(i), sprintf('variant=%s B=4 H=8 D=%d causal=%d clock=graph l2=warm', word(ways, i), D, causal), \
    'Sk median_us p5_us p95_us')
rate(S, D, causal, us) = 10e-6 * 4 * 8 * S * S * D / (1 + causal) / us
set logscale x 2
set xrange [400:21000]
set xtics ('512' 512, '2k' 2048, '8k' 8192)
set yrange [0:850]
set ytics 200
set label 99 device at screen 0.5, 0.97 center font ',12' textcolor rgb SOFT
set label 98 'TFLOP/s' at screen 0.035, 0.595 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.57, 0.2 center font ',13' textcolor rgb INK
set key at screen 0.5, 0.005 bottom center maxrows 3 samplen 2.2 width 1
set multiplot
unset title
do for [D = 64:128:64] {
    set tmargin at screen (D == 64 ? 0.89 : 0.58)
    set bmargin at screen (D == 64 ? 0.61 : 0.3)
    do for [c = 0:1] {
        set lmargin at screen (c == 0 ? 0.145 : 0.58)
        set rmargin at screen (c == 0 ? 0.55 : 0.985)
        set format y (c == 0 ? '%g' : '')
        if (D == 64) { set xtics ('' 512, '' 2048, '' 8192) } else { set xtics ('512' 512, '2k' 2048, '8k' 8192) offset 0, 0.2 }
        unset label 1
        if (D == 64) { set label 1 (c == 0 ? 'no mask' : 'causal') at graph 0.5, 1.08 center font ',12' textcolor rgb INK }
        set label 2 sprintf('D = %d', D) at graph 0.97, 0.1 right font ',12' textcolor rgb INK
        plot for [i = 1:n] got(i, D, c) using 1:(rate($1, D, c, $2)):(rate($1, D, c, $4)):(rate($1, D, c, $3)) \
                 with yerrorlines ls i ps 0.55 notitle, \
             ceiling('tensor_f16_tflops') with lines ls LIMIT notitle, \
             for [i = 1:n] keyentry with linespoints ls i title word(said, i), \
             keyentry with lines ls LIMIT title 'limit'
        do for [i = 97:99] { unset label i }
        unset key
    }
}
unset multiplot
