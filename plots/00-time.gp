# alt: Bars of the share of the limit that each way to copy 256 MiB reaches, with a dashed line at what was predicted. Float4 and four loads reach nearly all of it, one by one three quarters, the coalesced one and most others about half, 32-way conflicts a fifth, stride 32 and the column walk a tenth. Predicted were 100 per cent, and a quarter for the last three.
# data: step-00.tsv ceilings.tsv
tall = 430
load 'plots/style.gp'
set xlabel '% of the limit'
set xrange [0:118]
set xtics 25
set lmargin 17
set bmargin 4.6
set key at screen 0.56, 0.02 bottom center maxrows 1 samplen 1.6
set ytics () nomirror textcolor rgb INK font ',12' scale 0
f = 'step-00.tsv'
w = 'case=large clock=graph l2=warm'
ways = names(f, w, 'variant')
last = words(ways) - 1
set yrange [last + 0.6:-0.6]
got(i) = rows(f, w . ' variant=' . word(ways, i), 'limit_pct')
# Cycles of memory for a warp's 256 bytes, and wavefronts of those that need more.
of_memory = 256 / (1e6 * ceiling('copy_tbps') / ceiling('sms') / ceiling('clock_mhz'))
slow(v) = v eq 'shared-32' ? 66 : v eq 'stride-32' || v eq 'column-walk' ? 64 : 0
predicted(v) = slow(v) ? 100 * of_memory / slow(v) : 100
label(x, at) = x < at && at - x < 15 ? at : x # right of the line where it would cross the number
do for [i = 1:words(ways)] {
    set ytics add (word(ways, i) i - 1)
    at = predicted(word(ways, i))
    set arrow i from at, i - 1.45 to at, i - 0.55 nohead ls LIMIT front
}
plot for [i = 1:words(ways)] got(i) \
         using ($1/2):(i-1):($1/2):(0.3) with boxxyerror lc rgb GOOD notitle, \
     for [i = 1:words(ways)] got(i) \
         using (label($1, predicted(word(ways, i)))):(i-1):(sprintf('%.0f', $1)) with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with boxes lc rgb GOOD title 'measured', \
     keyentry with lines ls LIMIT title 'predicted'
