# alt: How many times as fast K once is as two rivals, forward at D = 128, against the length S from 512 to 16,384 on logarithmic axes. Over RoPE op by op it falls from above 5 to below 1.5; over one RoPE kernel from nearly 1.2 to just above 1. No line is below the dashed line at 1.
# data: step-37.tsv
load 'plots/style.gp'
lengths = '512 1024 2048 4096 8192 16384'
at(S) = sprintf('case=forward-D128-S%d l2=warm clock=graph ', S)
ours(variant, S) = real(cell('step-37.tsv', at(S) . 'variant=' . variant, 'median_us'))
rivals = 'op-by-op one-kernel'
said = "'RoPE op by op' 'one RoPE kernel'"
style = '6 3'
over(i, S) = ours(word(rivals, i), S) / ours('rotate-k-once', S)
set print $all
do for [i = 1:2] {
    do for [S in lengths] { print S, over(i, int(S)) }
    print ''
    print ''
}
unset print
set logscale x 2
set logscale y
set xrange [430:19500]
set xtics ('512' 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192, '16k' 16384)
set xlabel 'S'
set ylabel 'K once, times as fast'
set yrange [0.93:10.5]
set ytics (1, 1.2, 1.5, 2, 3, 5, 8)
set key top right
plot 1 with lines ls LIMIT notitle, \
     for [i = 1:2] $all index i - 1 using 1:2 with linespoints ls int(word(style, i)) title word(said, i)
