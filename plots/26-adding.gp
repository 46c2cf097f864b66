# alt: Time of each way to add up dq, over that of two kernels, at S = 8192, for D = 64 and 128, with and without a causal mask: atomic additions of one float, of four, plain additions in a fixed order, atomic additions of four floats in a fixed order. Four at a time are the fastest everywhere. A dashed line marks 1, two kernels.
# data: step-26.tsv
load 'plots/style.gp'
ways = 'a-scalar b-vector c-ordered d-ordered-vector'
said = "'a: one float' 'b: four' 'c: in turn, plain' 'd: in turn, four'"
colours = '#c2480a #0a5ea8 #9c3f86 #007a5e'
n = words(ways)
where(D, causal, i) = sprintf('variant=%s B=4 H=8 Sq=8192 D=%d causal=%d clock=graph l2=warm', word(ways, i), D, causal)
over(D, causal, i, col) = 1 / real(cell('step-26.tsv', where(D, causal, i), col))
at(k, i) = k + (i - (n + 1) / 2.0) * 0.2
set print $all
do for [k = 1:4] {
    do for [i = 1:n] {
        D = k > 2 ? 128 : 64
        causal = (k + 1) % 2
        print sprintf('%d %g %g %g %g', i, at(k, i), over(D, causal, i, 'ratio'), over(D, causal, i, 'ratio_p5'), over(D, causal, i, 'ratio_p95'))
    }
}
unset print
set ylabel 'time / time of two kernels'
set yrange [0:*]
set xrange [0.45:4.55]
set xtics ('D = 64' 1, "D = 64\ncausal" 2, 'D = 128' 3, "D = 128\ncausal" 4) scale 0
set grid noxtics
set bmargin at screen 0.36
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 1.6 width 0
plot for [i = 1:n] $all using ($1 == i ? $2 : NaN):3:($2 - 0.09):($2 + 0.09):(0):3 with boxxyerror lc rgb word(colours, i) title word(said, i), \
     $all using 2:5:(0):($4 - $5) with vectors nohead lc rgb INK lw 0.8 notitle, \
     1 with lines ls LIMIT notitle
