# alt: How many times as fast one version is as another, cold and warm L2. Of two adds the one with eight elements per thread is well ahead of the one with a single element and a few per cent ahead of the one with two, further with a warm L2, and level with PyTorch's. The one kernel for add and norm over the add and the norm lies at the dashed line of five quarters when the L2 is cold.
# data: step-38.tsv peers.tsv
load 'plots/style.gp'
set xlabel 'ratio of times'
set xrange [0:3.4]
set xtics 0.5
set lmargin 19
set yrange [4.6:-0.6]
set ytics ('plain / eight' 0, 'plain / half2' 1, 'half2 / eight' 2, 'PyTorch / eight' 3, 'add, norm / fused' 4) \
    nomirror textcolor rgb INK font ',12' scale 0
set bmargin 4.6
set key at screen 0.55, 0.02 bottom center maxrows 1 samplen 1.6 width 1
f = 'step-38.tsv'
# How many times as fast as plain, in alternating rounds.
r(case, variant, l2) = real(cell(f, 'clock=graph case=' . case . ' variant=' . variant . ' l2=' . l2, 'ratio'))
quotient(i, l2) = i == 0 ? r('add', 'eight', l2) \
                : i == 1 ? r('add', 'half2', l2) \
                : i == 2 ? r('add', 'eight', l2) / r('add', 'half2', l2) \
                : i == 3 ? real(cell('peers.tsv', 'step=38 case=add variant=ours-ctypes clock=graph', 'ratio')) \
                         : r('add-norm', 'fused', l2) / r('add-norm', 'eight', l2)
set arrow 1 from 1.25, -0.6 to 1.25, 4.6 nohead ls LIMIT front
set arrow 2 from 1, -0.6 to 1, 4.6 nohead lc rgb SOFT lw 0.9 front
beside(q) = q > 0.9 && q < 1.25 ? 1.25 : q # a number does not stand on a line
array cold[4] = [0, 1, 2, 4]
do for [i = 1:4] { set label 10 + i sprintf('%.2f', quotient(cold[i], 'cold')) at beside(quotient(cold[i], 'cold')), cold[i] - 0.17 left offset 0.4, 0 textcolor rgb INK font ',12' }
do for [i = 0:4] { set label 20 + i sprintf('%.2f', quotient(i, 'warm')) at beside(quotient(i, 'warm')), i + 0.19 left offset 0.4, 0 textcolor rgb INK font ',12' }
plot for [i = 1:4] '+' every ::::0 using (quotient(cold[i], 'cold')/2):(cold[i] - 0.17):(quotient(cold[i], 'cold')/2):(0.16) \
         with boxxyerror lc rgb GOOD notitle, \
     for [i = 0:4] '+' every ::::0 using (quotient(i, 'warm')/2):(i + 0.19):(quotient(i, 'warm')/2):(0.16) \
         with boxxyerror lc rgb SOFT notitle, \
     keyentry with boxes lc rgb GOOD title 'cold L2', \
     keyentry with boxes lc rgb SOFT title 'warm L2', \
     keyentry with lines ls LIMIT title '5/4'
