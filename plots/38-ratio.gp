# alt: How many times as fast one version is as another, three pairs, cold and warm L2. Of two adds that move the same bytes, neither gains a quarter. The one kernel for add and norm over the add and the norm lies at the dashed line of five quarters or near it.
# data: step-38.tsv
load 'plots/style.gp'
set xlabel 'ratio of times'
set xrange [0:3.4]
set xtics 0.5
set lmargin 19
set yrange [5.2:-0.6]
set ytics ('plain / half2' 0, 'half2 / eight' 1, 'plain / eight' 2, 'add, norm / fused' 3) \
    nomirror textcolor rgb INK font ',12' scale 0
set key bottom right samplen 1.6
f = 'step-38.tsv'
t(case, variant, l2) = real(cell(f, 'clock=graph case=' . case . ' variant=' . variant . ' l2=' . l2, 'median_us'))
quotient(i, l2) = i == 0 ? t('add', 'plain', l2) / t('add', 'half2', l2) \
                : i == 1 ? t('add', 'half2', l2) / t('add', 'eight', l2) \
                : i == 2 ? t('add', 'plain', l2) / t('add', 'eight', l2) \
                         : t('add-norm', 'eight', l2) / t('add-norm', 'fused', l2)
set arrow 1 from 1.25, -0.6 to 1.25, 3.6 nohead ls LIMIT front
set arrow 2 from 1, -0.6 to 1, 3.6 nohead lc rgb SOFT lw 0.9 front
plot for [i = 0:3] '+' every ::::0 using (quotient(i, 'cold')/2):(i - 0.17):(quotient(i, 'cold')/2):(0.15) \
         with boxxyerror lc rgb GOOD notitle, \
     for [i = 0:3] '+' every ::::0 using (quotient(i, 'warm')/2):(i + 0.17):(quotient(i, 'warm')/2):(0.15) \
         with boxxyerror lc rgb SOFT notitle, \
     for [i = 0:3] '+' every ::::0 using (quotient(i, 'cold')):(i - 0.17):(sprintf('%.2f', quotient(i, 'cold'))) \
         with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     for [i = 0:3] '+' every ::::0 using (quotient(i, 'warm')):(i + 0.17):(sprintf('%.2f', quotient(i, 'warm'))) \
         with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with boxes lc rgb GOOD title 'cold L2', \
     keyentry with boxes lc rgb SOFT title 'warm L2', \
     keyentry with lines ls LIMIT title '5/4'
