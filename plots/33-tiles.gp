# alt: How many times as fast as step 32's tile each tile of the fused kernel is, against the length S, two panels, D = 64 and D = 128. Every tile is a point at each length; lines join four of them: 64 queries and 32 queries, as the log proposed, 256 queries with 64 keys, and 128 queries with 8 warps. Below the dashed line at 1 a tile is slower than step 32's. At D = 128 only 256 queries come above it, at long S; 64 queries and 32 queries fall with S and level off.
# data: step-33.tsv
load 'plots/style.gp'
shown = 'm64-n64-w4-s2 m32-n32-w2-s3 m256-n64-w8-s2 m128-n64-w8-s2'
said(t) = t eq 'm64-n64-w4-s2' ? '64 queries' : t eq 'm32-n32-w2-s3' ? '32 queries' : t eq 'm256-n64-w8-s2' ? '256 queries' : '8 warps'
# In the rows of a case, the tile of step 32 comes first.
over(D, tile) = rows('step-33.tsv', sprintf('clock=graph l2=warm D=%d', D), 'Sk variant median_us') . \
    sprintf(" | awk '$2 == \"tile:m128-n64-w4-s2\" { us = $3; next } $2 ~ /^tile:%s$/ { print $1, us / $3 }'", tile)
set logscale xy 2
set ytics ('0.35' 0.35, '0.5' 0.5, '0.7' 0.7, '1' 1, '1.4' 1.4)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set key at screen 0.55, 0.005 bottom center maxrows 2 samplen 2.2 width -1
set tmargin at screen 0.87
set bmargin at screen 0.33
stats over(64, '.*') using 2 nooutput
low = STATS_min
high = STATS_max
stats over(128, '.*') using 2 nooutput
set yrange [(low < STATS_min ? low : STATS_min) / 1.08:(high > STATS_max ? high : STATS_max) * 1.08]
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
    plot over(D, '.*') using 1:2 with points pt 7 ps 0.35 lc rgb '#4a5a78' notitle, \
         1 with lines ls LIMIT notitle, \
         for [i = 1:4] over(D, word(shown, i)) using 1:2 with linespoints ls i ps 0.55 notitle, \
         for [i = 1:4] keyentry with linespoints ls i title said(word(shown, i)), \
         keyentry with points pt 7 ps 0.35 lc rgb '#4a5a78' title 'other tiles'
}
unset multiplot
