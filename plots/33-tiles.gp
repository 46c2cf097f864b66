# alt: How many times as fast as step 32's tile six tiles of the fused kernel are, against the length S, two panels, D = 64 and D = 128. Below the dashed line at 1 a tile is slower than step 32's. At D = 128 only 256 queries come above it, at the longest lengths. All others lie below it and fall with S; 64 queries with 32 keys and three stages, and the third stage, lie highest among them, 32 queries lowest. At D = 64 the third stage lies on the line.
# data: step-33.tsv
load 'plots/style.gp'
shown = 'm64-n64-w4-s2 m64-n32-w4-s3 m64-n32-w4-s4 m32-n32-w2-s3 m128-n64-w4-s3 m256-n64-w8-s2'
said = "'64 queries' '64 queries, 32 keys' 'the same, four stages' '32 queries, 32 keys' 'third stage' '256 queries'"
# In the rows of a case, the tile of step 32 comes first.
over(D, tile) = rows('step-33.tsv', sprintf('clock=graph l2=warm D=%d', D), 'Sk variant median_us') . \
    sprintf(" | awk '$2 == \"tile:m128-n64-w4-s2\" { us = $3; next } $2 ~ /^tile:%s$/ { print $1, us / $3 }'", tile)
set logscale xy 2
set ytics ('0.35' 0.35, '0.5' 0.5, '0.7' 0.7, '1' 1, '1.4' 1.4)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set key at screen 0.55, 0.005 bottom center maxrows 3 samplen 2.2 width -1
set tmargin at screen 0.87
set bmargin at screen 0.37
low = 1.0
high = 1.0
do for [i = 1:words(shown)] {
    do for [p = 1:2] {
        stats over(64 * p, word(shown, i)) using 2 nooutput
        low = STATS_min < low ? STATS_min : low
        high = STATS_max > high ? STATS_max : high
    }
}
set yrange [low / 1.08:high * 1.08]
set multiplot
unset title
set xlabel 'S'
do for [p = 1:2] {
    D = 64 * p
    set lmargin at screen (p == 1 ? 0.165 : 0.52)
    set rmargin at screen (p == 1 ? 0.48 : 0.98)
    if (p == 1) {
        set ylabel "times as fast as step 32's tile" offset 1.4, 0
        set xrange [400:10500]
        set xtics ('512' 512, '2k' 2048, '8k' 8192)
    } else {
        unset ylabel
        unset label 99
        unset key
        set format y ''
        set ytics ('' 0.35, '' 0.5, '' 0.7, '' 1, '' 1.4)
        set xrange [400:190000]
        set xtics ('512' 512, '4k' 4096, '32k' 32768, '128k' 131072)
    }
    set label 1 sprintf('D = %d', D) at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    plot 1 with lines ls LIMIT notitle, \
         for [i = 1:words(shown)] over(D, word(shown, i)) using 1:2 with linespoints ls i ps 0.55 notitle, \
         for [i = 1:words(shown)] keyentry with linespoints ls i title word(said, i)
}
unset multiplot
