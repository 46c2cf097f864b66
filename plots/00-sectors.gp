# alt: Bars of 32-byte sectors per request when loading from global memory, for eight ways to copy. Coalesced takes 4, shifted 5, stride 2 takes 8, stride 32 and the column walk 32 each, float4 16, four loads 4 each. With a broadcast beside the copy the mean is 2.5. Dashed lines mark the least for the bytes that a request asks for.
# data: ../cpu/step-00-counts.tsv
load 'plots/style.gp'
set xlabel 'sectors per load request'
set xrange [0:38]
set xtics 8
set yrange [7.6:-0.6]
set lmargin 13
set bmargin 4.6
set key at screen 0.56, 0.02 bottom center samplen 1.6
set ytics () nomirror textcolor rgb INK font ',12' scale 0
ways = 'coalesced shifted stride-2 stride-32 column-walk float4 four-loads broadcast'
f = '../cpu/step-00-counts.tsv'
got(i) = rows(f, 'case=exact variant=' . word(ways, i), 'global_ld_sectors global_ld_requests')
do for [i = 1:words(ways)] { set ytics add (word(ways, i) i - 1) }
set arrow 1 from 4, -0.5 to 4, 4.5 nohead ls LIMIT front
set arrow 2 from 16, 4.55 to 16, 5.45 nohead ls LIMIT front
set arrow 3 from 4, 5.55 to 4, 6.45 nohead ls LIMIT front
set arrow 4 from 2.5, 6.55 to 2.5, 7.5 nohead ls LIMIT front
plot for [i = 1:words(ways)] got(i) \
         using ($1/$2/2):(i-1):($1/$2/2):(0.32) with boxxyerror lc rgb GOOD notitle, \
     for [i = 1:words(ways)] got(i) \
         using ($1/$2):(i-1):(sprintf('%.3g', $1/$2)) with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with lines ls LIMIT title 'the least'
