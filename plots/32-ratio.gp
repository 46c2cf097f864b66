# alt: How many times as fast as RoPE op by op and attention three variants are, against the length S on a logarithmic axis, two panels: forward with attention alone, one RoPE kernel and the fused kernel, backward with the last two. At D = 128 attention alone is highest, one RoPE kernel lies below it and meets it at long S, and both come down to the dashed line at 1. The fused kernel begins beside one RoPE kernel and falls below 1 at long S, backward earlier than forward. Thin lines are one RoPE kernel and the fused kernel at D = 64.
# data: step-32.tsv
load 'plots/style.gp'
ways = 'one-kernel fused attention'
said = "'one RoPE kernel' 'fused kernel' 'attention alone'"
n = words(ways)
of(pass, i, D) = rows('step-32.tsv', sprintf('variant=%s D=%d clock=graph l2=warm', word(ways, i), D), \
    'Sk ratio ratio_p5 ratio_p95 case') . ' | grep ' . pass
set style line 11 lc rgb '#0a5ea8' lw 0.9 dt 1 pt 6 ps 0.45
set style line 12 lc rgb '#c2480a' lw 0.9 dt (9, 3) pt 4 ps 0.4
set logscale x 2
set logscale y
set xrange [360:185000]
set xtics ('512' 512, '4k' 4096, '32k' 32768)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set label 98 'times as fast as op by op' at screen 0.03, 0.59 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.56, 0.235 center font ',13' textcolor rgb INK
set key at screen 0.55, 0.005 bottom center maxrows 3 samplen 2.2 width 0
# Both panels have the same scale.
set print $all
do for [pass in 'forward backward'] { do for [i = 1:n] { print system(substr(of(pass, i, 128), 2, -1)) } }
unset print
stats $all using 2 nooutput
set yrange [0.85 * STATS_min:1.25 * STATS_max]
set ytics (0.25, 0.5, 1, 2, 4, 8, 16)
set tmargin at screen 0.87
set bmargin at screen 0.345
set multiplot
unset title
do for [p = 1:2] {
    pass = word('forward backward', p)
    set lmargin at screen 0.135 + 0.435 * (p - 1)
    set rmargin at screen 0.135 + 0.435 * p - 0.025
    if (p == 2) { set format y '' }
    set label 1 pass at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    m = p == 1 ? n : n - 1 # attention alone has no gradients here
    plot 1 with lines ls LIMIT notitle, \
         for [i = 1:2] of(pass, i, 64) using 1:2 with linespoints ls 10 + i notitle, \
         for [i = 1:m] of(pass, i, 128) using 1:2:3:4 with yerrorlines ls i notitle, \
         for [i = 1:n] keyentry with linespoints ls i title word(said, i), \
         keyentry with linespoints ls 11 title 'thin: D = 64', \
         keyentry with lines ls LIMIT title 'RoPE op by op'
    do for [i = 97:99] { unset label i }
    unset key
}
unset multiplot
