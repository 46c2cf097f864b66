# alt: How many times as fast as the kernel that loads K alone the three others are: K and its transposed copy, the copy alone, single loads. For twelve shapes: D = 64 and 128, each without and with a causal mask, at S = 512, 2048 and 8192. A dashed line marks 1, K alone. Nearly all points lie below it; K and its copy at D = 128 and single loads are the lowest.
# data: step-27.tsv
load 'plots/style.gp'
f = 'step-27.tsv'
ways = names(f, 'variant!=k-rows clock=graph', 'variant')
n = words(ways)
said(way) = way eq 'k-both' ? 'K and Kᵀ' : way eq 'k-columns' ? 'Kᵀ alone' : 'single loads'
group(k) = sprintf(' B=4 H=8 D=%d causal=%d clock=graph l2=warm', k > 2 ? 128 : 64, (k + 1) % 2)
# A row's ratio is the time of the first variant, k-rows, over its own.
got(i, k) = rows(f, 'variant=' . word(ways, i) . group(k), 'Sk ratio ratio_p5 ratio_p95')
at(k, S) = 4 * (k - 1) + log(S / 512.0) / log(4) + 1
set ylabel 'times as fast as K alone'
set xrange [0:16]
set xtics () scale 0 font ',12' rotate by 90 right offset 0, 0.2
do for [k = 1:4] {
    set xtics add ('512' at(k, 512), '2k' at(k, 2048), '8k' at(k, 8192))
    set label k sprintf("D = %d%s", k > 2 ? 128 : 64, k % 2 ? '' : "\ncausal") at at(k, 2048), screen 0.22 \
        center font ',12' textcolor rgb INK
}
set grid noxtics
set bmargin at screen 0.34
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.2 width 0
plot 1 with lines ls LIMIT title 'K alone', \
     for [i = 1:n] for [k = 1:4] got(i, k) using (at(k, $1)):2:3:4 with yerrorlines ls i notitle, \
     for [i = 1:n] keyentry with linespoints ls i title said(word(ways, i))
