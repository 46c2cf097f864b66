# alt: Bars of the bytes that reach device memory in one call, in units of the tensor, for all versions of RoPE alone and for PyTorch. The op chains and eager PyTorch move about five times the least, a dashed line; every version in one kernel, PyTorch's compiled ones too, moves about the least.
# data: step-16-profile.tsv step-17-profile.tsv step-18-profile.tsv step-19-profile.tsv peers-profile.tsv
load 'plots/style.gp'
set xlabel 'bytes moved, over the bytes of x'
set xrange [0:11.9]
set xtics 2
set lmargin 17
set bmargin at screen 0.27
set key at screen 0.54, 0.005 bottom center samplen 2.2
set ytics () nomirror textcolor rgb INK font ',12' scale 0
files = 'step-16 step-16 step-17 step-18 step-18 step-19 step-19 step-19 peers peers peers peers'
versions = 'rebuild four-each cached table computed float4 reuse streaming eager-rebuilt eager-cached compiled-rebuilt compiled-cached'
n = words(versions)
set yrange [n - 0.4:-0.6]
got(i) = rows(word(files, i) . '-profile.tsv', 'case=large kernel=all variant=' . word(versions, i), 'dram tensor')
do for [i = 1:n] { set ytics add (word(versions, i) . (i <= 8 ? ' ' . substr(word(files, i), 6, 7) : '') i - 1) }
set arrow 1 from 2, -0.6 to 2, n - 0.4 nohead ls LIMIT front
plot for [i = 1:n] got(i) using ($1/$2/2):(i-1):($1/$2/2):(0.32) with boxxyerror lc rgb (i <= 8 ? GOOD : SOFT) notitle, \
     for [i = 1:n] got(i) using ($1/$2):(i-1):(sprintf('%.2f', $1/$2)) with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with lines ls LIMIT title 'the least'
