# alt: How many times as fast as the delta-twice variant the others are, for twelve shapes: D = 64 and 128, each without and with a causal mask, at S = 512, 2048 and 8192. Lines for the stored-delta variant, whose dq kernel stores delta, and for the delta-kernel variant, whose delta kernel runs first. A dashed line marks 1, the delta-twice variant.
# data: step-25.tsv
load 'plots/style.gp'
ways = 'by-dq by-kernel'
said = "'stored-δ variant' 'delta-kernel variant'"
style(i) = word('2 1', i) + 0
group(k) = sprintf(' B=4 H=8 D=%d causal=%d clock=graph l2=warm', k > 2 ? 128 : 64, (k + 1) % 2)
got(i, k) = rows('step-25.tsv', 'variant=' . word(ways, i) . group(k), 'Sk ratio ratio_p5 ratio_p95')
at(k, S) = 4 * (k - 1) + log(S / 512.0) / log(4) + 1
set ylabel 'times as fast as δ-twice variant'
set yrange [0.95:*]
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
plot 1 with lines ls LIMIT title 'δ-twice variant', \
     for [i = 1:2] for [k = 1:4] got(i, k) using (at(k, $1)):2:3:4 with yerrorlines ls style(i) notitle, \
     for [i = 1:2] keyentry with linespoints ls style(i) title word(said, i)
