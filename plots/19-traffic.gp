# alt: Bars of the bytes that reach device memory in one call, in units of the tensor, for all versions of RoPE alone and for PyTorch. The two op chains move 10, eager PyTorch too; every version in one kernel moves 2, which is the least.
# data: step-16-traffic.tsv
load 'plots/style.gp'
set xlabel 'bytes moved, over the bytes of x'
set xrange [0:11.9]
set xtics 2
set lmargin 17
set key at graph 1, 0.55 right center samplen 1.6
set ytics () nomirror textcolor rgb INK font ',12' scale 0
f = 'step-16-traffic.tsv'
steps = '16 16 17 18 18 19 19 19 peer peer peer peer'
versions = 'rebuild four-each cached table computed float4 reuse streaming eager-rebuilt eager-cached compiled-rebuilt compiled-cached'
n = words(versions)
set yrange [n - 0.4:-0.6]
got(i) = rows(f, 'case=large kernel=all of=' . word(steps, i) . ' variant=' . word(versions, i), 'dram_n')
do for [i = 1:n] { set ytics add (word(versions, i) . (i <= 8 ? ' ' . word(steps, i) : '') i - 1) }
set arrow 1 from 2, -0.6 to 2, n - 0.4 nohead ls LIMIT front
plot for [i = 1:n] got(i) using ($1/2):(i-1):($1/2):(0.32) with boxxyerror lc rgb (i <= 8 ? GOOD : SOFT) notitle, \
     for [i = 1:n] got(i) using 1:(i-1):(sprintf('%.2f', $1)) with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with lines ls LIMIT title 'the least'
