# alt: How many times as fast as two kernels each kernel of one pass is, at S = 8192 without a mask, for D = 64 and 128: the scalar kernel, the vector kernel, the ordered vector kernel, the ordered kernel. The vector kernel is the fastest at both; the scalar kernel is slower than two kernels at both. A dashed line marks 1, two kernels.
# data: step-26.tsv
load 'plots/style.gp'
ways = 'a-scalar b-vector d-ordered-vector c-ordered'
said = "'scalar' 'vector' 'ordered vector' 'ordered'"
colours = '#c2480a #0a5ea8 #007a5e #9c3f86'
n = words(ways)
where(D, i) = sprintf('variant=%s B=4 H=8 Sq=8192 D=%d causal=0 clock=graph l2=warm', word(ways, i), D)
speed(D, i, col) = real(cell('step-26.tsv', where(D, i), col))
at(k, i) = k + (i - (n + 1) / 2.0) * 0.2
set print $all
do for [k = 1:2] {
    do for [i = 1:n] {
        print sprintf('%d %g %g %g %g', i, at(k, i), speed(64 * k, i, 'ratio'), speed(64 * k, i, 'ratio_p5'), speed(64 * k, i, 'ratio_p95'))
    }
}
unset print
set ylabel 'times as fast as two kernels'
set yrange [0:*]
set xrange [0.45:2.55]
set xtics ('D = 64' 1, 'D = 128' 2) scale 0
set grid noxtics
set bmargin at screen 0.3
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 1.6 width 0
plot for [i = 1:n] $all using ($1 == i ? $2 : NaN):3:($2 - 0.09):($2 + 0.09):(0):3 with boxxyerror lc rgb word(colours, i) title word(said, i), \
     $all using 2:5:(0):($4 - $5) with vectors nohead lc rgb INK lw 0.8 notitle, \
     1 with lines ls LIMIT notitle
