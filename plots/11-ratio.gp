# alt: Time of separate divided by that of v5 and of three V6 variants, against D. At D = 8 all lie near 1 or below, and from 32 on above it. v6-64x128 stays level beyond D = 128, v6 beyond 512, v6-all goes on rising, and v5 in 40 KB falls below 1 at 2048.
# data: step-10.tsv step-11.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'times as fast as separate'
set logscale x
set xtics (8, 32, 128, 512, 2048)
set xrange [6:2700]
set yrange [0:3]
set ytics 1
set bmargin 6.4
set key at screen 0.54, 0.02 bottom center maxrows 3 samplen 2.4 width -2
c = ' clock=graph l2=warm'
full = ' case!=D80-R20 case!=D128-R64 case!=D512-R128 case!=D2048-R128'
r = 'D ratio ratio_p5 ratio_p95'
plot rows('step-11.tsv', 'variant=v6-all' . c . full, r) using 1:2:3:4 with yerrorlines ls 1 title 'v6-all', \
     rows('step-11.tsv', 'variant=v6-64x128' . c . full, r) using 1:2:3:4 with yerrorlines ls 3 title 'v6-64x128', \
     rows('step-11.tsv', 'variant=v6' . c . full, r) using 1:2:3:4 with yerrorlines ls 2 title 'v6', \
     rows('step-10.tsv', 'variant=v5' . c . full, r) using 1:2:3:4 with yerrorlines ls FAILED title 'v5 (40 KB)', \
     1 with lines ls LIMIT title 'separate'
