# alt: How many times as fast as the threads kernel the others are, for sixteen shapes: D = 64 and 128, each without and with a causal mask, at S = 512, 2048, 8192 and 16,384. Lines for the TMA kernel, and for the apart kernel with two and three stages. A band marks 1.1, what E4 gained; a dashed line marks 1, the threads kernel.
# data: step-28.tsv
tall = 350
load 'plots/style.gp'
f = 'step-28.tsv'
ways = 'tma tma-apart-2 tma-apart'
array called[3] = ['TMA', 'apart', 'apart, 3 stages']
n = words(ways)
group(k) = sprintf(' B=4 H=8 D=%d causal=%d clock=graph l2=warm', k > 2 ? 128 : 64, (k + 1) % 2)
# A row's ratio is the time of the first variant, threads, over its own.
got(i, k) = rows(f, 'variant=' . word(ways, i) . group(k), 'Sk ratio ratio_p5 ratio_p95')
# Four places per group, for 512, 2048, 8192 and 16384.
at(k, S) = 5 * (k - 1) + (S > 8192 ? 4 : log(S / 512.0) / log(4) + 1)
set ylabel 'times as fast as the threads kernel'
set xrange [0:20]
set xtics () scale 0 font ',12' rotate by 90 right offset 0, 0.2
do for [k = 1:4] {
    set xtics add ('512' at(k, 512), '2k' at(k, 2048), '8k' at(k, 8192), '16k' at(k, 16384))
    set label k sprintf("D = %d%s", k > 2 ? 128 : 64, k % 2 ? '' : "\ncausal") at 5 * k - 2.5, screen 0.225 \
        center font ',12' textcolor rgb INK
}
set grid noxtics
set bmargin at screen 0.36
set object 1 rectangle from graph 0, first 1.095 to graph 1, first 1.105 behind fillcolor rgb FAINT fillstyle solid noborder
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.2 width 0
plot 1 with lines ls LIMIT notitle, \
     for [i = 1:n] for [k = 1:4] got(i, k) using (at(k, $1)):2:3:4 with yerrorlines ls i notitle, \
     for [i = 1:n] keyentry with linespoints ls i title called[i]
