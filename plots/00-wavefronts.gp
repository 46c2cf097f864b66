# alt: Bars of wavefronts per request in shared memory, for six ways to stage a tile. Strides of 1, 2, 4 and 32 words take 1, 2, 4 and 32 wavefronts. A stride of 32 words in rows padded to 33 takes 1, and so does a broadcast.
# data: ../cpu/step-00-counts.tsv
load 'plots/style.gp'
set xlabel 'wavefronts per load request'
set xrange [0:38]
set xtics 8
set yrange [5.6:-0.6]
set lmargin 17
set bmargin 4.6
set key at screen 0.56, 0.02 bottom center samplen 1.6
set ytics () nomirror textcolor rgb INK font ',12' scale 0
ways = 'shared-1 shared-2 shared-4 shared-32 shared-padded shared-broadcast'
f = '../cpu/step-00-counts.tsv'
got(i) = rows(f, 'case=exact variant=' . word(ways, i), 'shared_ld_wavefronts shared_ld_requests')
do for [i = 1:words(ways)] { set ytics add (word(ways, i) i - 1) }
set arrow 1 from 1, -0.6 to 1, 5.6 nohead ls LIMIT front
plot for [i = 1:words(ways)] got(i) \
         using ($1/$2/2):(i-1):($1/$2/2):(0.32) with boxxyerror lc rgb GOOD notitle, \
     for [i = 1:words(ways)] got(i) \
         using ($1/$2):(i-1):(sprintf('%.3g', $1/$2)) with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with lines ls LIMIT title 'least: 1'
