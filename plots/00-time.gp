# alt: Bars of the time of each way to copy 256 MiB, relative to the coalesced one, and as thin bars the same for 16 MiB that stay in the L2. A dashed line stands at 1.
# data: step-00.tsv
tall = 400
load 'plots/style.gp'
set xlabel 'time / time of coalesced'
set xrange [0:*]
set lmargin 17
set bmargin 4.6
set key at screen 0.56, 0.02 bottom center maxrows 1 samplen 0.8 width -1
set ytics () nomirror textcolor rgb INK font ',12' scale 0
f = 'step-00.tsv'
w = ' clock=graph l2=warm'
ways = names(f, 'case=large' . w, 'variant')
last = words(ways) - 1
set yrange [last + 0.6:-0.6]
got(c, i) = rows(f, 'case=' . c . w . ' variant=' . word(ways, i), 'ratio')
do for [i = 1:words(ways)] { set ytics add (word(ways, i) i - 1) }
set arrow 1 from 1, -0.6 to 1, last + 0.6 nohead ls LIMIT front
plot for [i = 1:words(ways)] got('large', i) \
         using (0.5/$1):(i-1-0.12):(0.5/$1):(0.24) with boxxyerror lc rgb GOOD notitle, \
     for [i = 1:words(ways)] got('in-L2', i) \
         using (0.5/$1):(i-1+0.28):(0.5/$1):(0.1) with boxxyerror lc rgb '#c2480a' notitle, \
     keyentry with boxes lc rgb GOOD title '256 MiB', \
     keyentry with boxes lc rgb '#c2480a' title '16 MiB, in the L2'
