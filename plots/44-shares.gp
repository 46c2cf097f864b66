# alt: Shares of a decode step by kind of operation, as stacked bars: the small model, the 2.8B shape, PyTorch at that shape, and what the log E3 claims for it. In ours at that shape products take seven tenths and adds a thin slice; PyTorch and E3 have about half for products and a third for attention with what belongs to it.
# data: step-44.tsv peers-neox-shares.tsv
load 'plots/style.gp'
bars = 'decode pythia eager log'
kinds = 'products attention norms gelus adds rest'
said = "'products' 'attention' 'norms' 'GELUs' 'adds' 'the rest'"
colours = '#0a5ea8 #c2480a #007a5e #9c3f86 #c81e3a #5b626b'
# The share of a kind of operation, measured alone. For the large shape the L2 is cold, as gigabytes pass
# through it between two calls.
cache(case) = case eq 'pythia' ? 'cold' : 'warm'
ours(case, kind) = 100 / real(cell('step-44.tsv', \
    'clock=graph l2=' . cache(case) . ' case=' . case . ' variant=' . kind, 'ratio'))
eager(kind) = 100 * real(cell('peers-neox-shares.tsv', 'variant=eager case=pythia kind=' . kind, 'share'))
# PyTorch rotates and appends with kernels of several kinds; our kernel for both counts as attention.
theirs(k) = k == 1 ? eager('gemm') : k == 2 ? eager('attention') + eager('rope-and-cache') : \
    k == 3 ? eager('norm') : k == 4 ? eager('gelu') : k == 5 ? eager('residual-add') : eager('other')
# The log's shares for the 2.8B shape; it names four kinds.
array log[6] = [45.3, 35.2, 10.2, 0, 4.6, 4.7]
share(bar, k) = word(bars, bar) eq 'log' ? log[k] : word(bars, bar) eq 'eager' ? theirs(k) : \
    ours(word(bars, bar), word(kinds, k))
set print $all
do for [bar = 1:4] {
    at = 0.0
    do for [k = 1:6] {
        width = share(bar, k)
        print sprintf('%d %d %g %g', bar, k, at, at + width)
        at = at + width
    }
}
unset print
set xlabel 'share of a decode step, %'
set xrange [0:100]
set xtics 0, 20, 100
set yrange [4.5:0.5]
set ytics ('small model' 1, '2.8B shape' 2, 'PyTorch' 3, 'E3' 4)
set grid x noy
set lmargin 11.5
set rmargin 3
set bmargin 6.2
set key bmargin center horizontal maxcols 3 Left reverse samplen 1 width 1 font ',12'
plot for [k = 1:6] $all using ($2 == k ? ($3 + $4) / 2 : NaN):1:3:4:($1 - 0.34):($1 + 0.34) \
         with boxxyerror lc rgb word(colours, k) title word(said, k)
