# alt: Stacked bars of the time of the log's two kernels at S = 2048, D = 64 and D = 128, in percent: dq kernel with three products, dkv kernel with four. A dashed line marks three sevenths, what the products alone would give to dq kernel; in each bar a dotted line marks what the wavefronts would give to it, less than that. The first kernel ends between the two lines at D = 64, near the dotted one, and before the dotted one at D = 128.
# data: step-24-profile.tsv
load 'plots/style.gp'
f = 'step-24-profile.tsv'
cases = 'D64-S2048 D128-S2048'
us(case, kernel) = real(cell(f, 'variant=reference-log case=' . word(cases, case) . ' kernel=' . kernel, 'us'))
part(case, kernel) = 100 * us(case, kernel) / (us(case, '1-backward_dq') + us(case, '2-backward_dkv'))
set print $all
do for [case = 1:2] {
    print sprintf('%d 1 %g %g', case, 0.0, part(case, '1-backward_dq'))
    print sprintf('%d 2 %g %g', case, part(case, '1-backward_dq'), 100.0)
}
unset print
set xlabel 'share of the time, %'
set xrange [0:100]
set yrange [2.6:0.4]
set ytics ('D = 64' 1, 'D = 128' 2) scale 0
set grid x noy
set lmargin 9
set bmargin at screen 0.34
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 1.6 width 1
set arrow 1 from 300.0 / 7, graph 0 to 300.0 / 7, graph 1 nohead ls LIMIT front
# By the wavefronts of a tile of 64 queries and keys: 896 of dq and 1536 of dkv, 1792 and 2944.
set arrow 2 from 100 * 896.0 / 2432, first 0.6 to 100 * 896.0 / 2432, first 1.4 nohead lw 2 lc rgb PANEL dt (2, 2) front
set arrow 3 from 100 * 1792.0 / 4736, first 1.6 to 100 * 1792.0 / 4736, first 2.4 nohead lw 2 lc rgb PANEL dt (2, 2) front
colours = '#0a5ea8 #c2480a'
plot for [i = 1:2] $all using ($2 == i ? ($3 + $4) / 2 : NaN):1:3:4:($1 - 0.34):($1 + 0.34) \
         with boxxyerror lc rgb word(colours, i) title word("'dq kernel' 'dkv kernel'", i), \
     keyentry with lines ls LIMIT title '3 products of 7', \
     keyentry with lines lw 2 lc rgb SOFT dt (2, 2) title 'by wavefronts'
