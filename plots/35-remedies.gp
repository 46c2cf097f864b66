# alt: How many times as fast as RoPE op by op and attention the fused kernel is, against the length S, two panels, D = 64 and D = 128. One line is step 32's kernel, and there is one for a variant of each remedy: the small tile, the large tile, overwritten, and tables in shared memory with 32 keys. At D = 64 all come down together to about the dashed line at 1, the small and the large tile a little below it. At D = 128 all fall below it, where fusing loses: the small tile first and farthest; the large tile and overwritten stay nearest to 1.
# data: step-32.tsv step-33.tsv step-34.tsv step-35.tsv
load 'plots/style.gp'
ratio(step, D, name) = rows(sprintf('step-%d.tsv', step), sprintf('clock=graph l2=warm D=%d variant=%s', D, name), 'Sk ratio case') . \
    ' | grep forward'
steps = '32 33 33 34 35'
names = 'fused tile:m64-n32-w4-s3 tile:m256-n64-w8-s2 fused-overwritten staged-n32'
said = "'step 32' 'small tile' 'large tile' 'overwritten' 'staged, 32 keys'"
set logscale xy 2
set ytics ('0.25' 0.25, '0.35' 0.35, '0.5' 0.5, '0.7' 0.7, '1' 1, '1.4' 1.4, '2' 2, '2.8' 2.8, '4' 4, '5.6' 5.6, '8' 8)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set key at screen 0.55, 0.005 bottom center maxrows 3 samplen 2.2 width -1
set tmargin at screen 0.87
set bmargin at screen 0.37
low = 1.0
high = 1.0
do for [i = 1:5] {
    do for [p = 1:2] {
        stats ratio(int(word(steps, i)), 64 * p, word(names, i)) using 2 nooutput
        low = STATS_min < low ? STATS_min : low
        high = STATS_max > high ? STATS_max : high
    }
}
set yrange [low / 1.1:high * 1.1]
set multiplot
unset title
set xlabel 'S'
do for [p = 1:2] {
    D = 64 * p
    set lmargin at screen (p == 1 ? 0.165 : 0.52)
    set rmargin at screen (p == 1 ? 0.48 : 0.965)
    if (p == 1) {
        set ylabel 'times as fast as op by op' offset 1.4, 0
        set xrange [400:10500]
        set xtics ('512' 512, '2k' 2048, '8k' 8192)
    } else {
        unset ylabel
        unset label 99
        unset key
        set ytics ('' 0.25, '' 0.35, '' 0.5, '' 0.7, '' 1, '' 1.4, '' 2, '' 2.8, '' 4, '' 5.6, '' 8)
        set xrange [400:190000]
        set xtics ('512' 512, '4k' 4096, '32k' 32768, '128k' 131072)
    }
    set label 1 sprintf('D = %d', D) at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    plot 1 with lines ls LIMIT notitle, \
         for [i = 1:5] ratio(int(word(steps, i)), D, word(names, i)) using 1:2 with linespoints ls i ps 0.55 notitle, \
         for [i = 1:5] keyentry with linespoints ls i title word(said, i)
}
unset multiplot
