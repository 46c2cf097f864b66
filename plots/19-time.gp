# alt: Bars of the time of one call on the large tensor for variants of RoPE alone, steps 16 to 19, and for PyTorch. The op chains and eager PyTorch take by far the longest. The variants in one kernel are several times as fast, and the fastest lies close to the limit, a dashed line.
# data: step-16.tsv step-17.tsv step-18.tsv step-19.tsv peers.tsv
load 'plots/style.gp'
set xlabel 'time of a call, µs'
set xrange [0:2500]
set xtics 500
set lmargin 17
set bmargin at screen 0.27
set key at screen 0.54, 0.005 bottom center samplen 2.2
set ytics () nomirror textcolor rgb INK font ',12' scale 0
steps = '16 16 17 18 18 19 19 peer peer peer peer'
versions = 'rebuild four-each cached table computed float4 reuse eager-rebuilt eager-cached compiled-rebuilt compiled-cached'
n = words(versions)
set yrange [n - 0.4:-0.6]
file(i) = i <= 7 ? 'step-' . word(steps, i) . '.tsv' : 'peers.tsv'
got(i) = rows(file(i), 'case=large clock=graph l2=warm variant=' . word(versions, i), 'median_us')
do for [i = 1:n] { set ytics add (word(versions, i) . (i <= 7 ? ' ' . word(steps, i) : '') i - 1) }
limit = real(cell('step-19.tsv', 'case=large clock=graph l2=warm variant=float4', 'limit_us'))
set arrow 1 from limit, -0.6 to limit, n - 0.4 nohead ls LIMIT front
plot for [i = 1:n] got(i) using ($1/2):(i-1):($1/2):(0.32) with boxxyerror lc rgb (i <= 7 ? GOOD : SOFT) notitle, \
     for [i = 1:n] got(i) using 1:(i-1):(sprintf('%.0f', $1)) with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with lines ls LIMIT title 'limit'
