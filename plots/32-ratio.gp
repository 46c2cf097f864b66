# alt: Three variants: how many times as fast as RoPE op by op with attention, against the length S on logarithmic axes, forward at D = 128. Attention alone is highest, one RoPE kernel lies below it and meets it at long S, and both come down to the dashed line at 1. The fused kernel begins beside one RoPE kernel and falls below 1 from 16,384 on.
# data: step-32.tsv
load 'plots/style.gp'
ways = 'one-kernel fused attention'
said = "'one RoPE kernel' 'the fused kernel' 'attention alone'"
of(i) = rows('step-32.tsv', sprintf('variant=%s D=128 clock=graph l2=warm', word(ways, i)), \
    'Sk ratio ratio_p5 ratio_p95 case') . ' | grep forward'
set logscale x 2
set logscale y
set xrange [400:175000]
set xtics ('512' 512, '2k' 2048, '8k' 8192, '32k' 32768, '128k' 131072)
set xlabel 'S'
set ylabel 'times as fast as op by op'
set yrange [0.75:5.5]
set ytics (0.8, 1, 1.5, 2, 3, 4)
set key top right
plot 1 with lines ls LIMIT title 'RoPE op by op', \
     for [i = 1:3] of(i) using 1:2:3:4 with yerrorlines ls i title word(said, i)
