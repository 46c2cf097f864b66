# alt: How many times as fast one RoPE kernel is as RoPE op by op and as the fused kernel, against the length S on logarithmic axes. Over RoPE op by op it falls from above 3 at 512 to below 1.2 at 16,384. Over the fused kernel it rises from 1 at 512 to above 1.2 from 6144 on. The two lines cross between 8192 and 12,288; an upright dashed line at 4096 marks the log's crossover. No point is below the dashed line at 1 by more than a hundredth.
# data: step-36.tsv
load 'plots/style.gp'
ways = 'way:op-by-op way:fused'
said = "'over RoPE op by op' 'over the fused kernel'"
style = '6 2'
# In the rows of a case, both ways come before one-kernel.
over(way) = rows('step-36.tsv', 'clock=graph l2=warm D=128', 'Sk variant median_us') . \
    sprintf(" | awk '$2 == \"%s\" { us = $3 } $2 == \"one-kernel\" && $1 <= 16384 { print $1, us / $3 }' | sort -n", way)
set logscale x 2
set logscale y
set xrange [430:19500]
set xtics ('512' 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192, '16k' 16384)
set xlabel 'S'
set ylabel 'one RoPE kernel, times as fast'
set yrange [0.93:4.9]
set ytics (1, 1.25, 1.5, 2, 3)
set key top right
set arrow 1 from 4096, graph 0 to 4096, graph 0.68 nohead lc rgb INK dt (5, 4) lw 1
set label 1 "the log's crossover" at 4096, graph 0.62 left offset 0.5, 0 font ',12' textcolor rgb INK
plot 1 with lines ls LIMIT notitle, \
     for [i = 1:2] over(word(ways, i)) using 1:2 with linespoints ls int(word(style, i)) title word(said, i)
