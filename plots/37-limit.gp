# alt: Attention alone plus the pass over K as a share of the time of K once, in per cent, against the length S on a logarithmic axis. At D = 128 the share rises from below 90 at 512 to 100 from 16,384 on. At D = 64 it is 94 at 512, above 100 at 1024, where the two overlap, and 98 to 99 beyond. A dashed line at 98 is the goal.
# data: step-37.tsv
load 'plots/style.gp'
lengths(D) = D == 64 ? '512 1024 2048 4096 8192' : '512 1024 2048 4096 8192 16384 32768 65536 131072'
# Short calls are measured in graphs, long ones alone and sustained; the pass over K always in graphs.
clock(S) = S < 2048 ? 'graph' : 'sustained'
at(case, D, S, clock) = sprintf('case=%s-D%d-S%d l2=warm clock=%s ', case, D, S, clock)
forward(variant, D, S) = real(cell('step-37.tsv', at('forward', D, S, clock(S)) . 'variant=' . variant, 'median_us'))
keys(D, S) = real(cell('step-37.tsv', at('keys', D, S, 'graph') . 'variant=pass-over-k', 'median_us'))
share(D, S) = 100 * (forward('attention', D, S) + keys(D, S)) / forward('rotate-k-once', D, S)
set print $all
do for [D = 64:128:64] {
    do for [S in lengths(D)] { print S, share(D, int(S)) }
    print ''
    print ''
}
unset print
set logscale x 2
set xrange [360:185000]
set xtics ('512' 512, '2k' 2048, '8k' 8192, '32k' 32768, '128k' 131072)
set xlabel 'S'
set ylabel 'the limit, % of the time of K once'
set yrange [86:105]
set key bottom right
plot 98 with lines ls LIMIT title '98 %, the goal', \
     $all index 0 using 1:2 with linespoints ls 3 title 'D = 64', \
     $all index 1 using 1:2 with linespoints ls 1 title 'D = 128'
