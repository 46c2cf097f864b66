# alt: Time of a call at D = 2048 against R. v6 is level. v6-partial starts below it and nearly reaches it at R = 2048. separate-tiled-all is level and lower. v6-partial-all lies below it and meets it at R = 2048. v6-none-all is the lowest line, and level.
# data: step-12.tsv
load 'plots/style.gp'
set xlabel 'dimensions that rotate, R (of D = 2048)'
set ylabel 'time of a call, µs'
set logscale x 2
set xrange [12:2900]
set yrange [50:100]
set xtics ('0' 16, 32, 64, 128, 512, 2048)
set bmargin 6.4
set key at screen 0.54, 0.02 bottom center maxrows 3 samplen 2.4 width -2
f = 'step-12.tsv'
c = ' D=2048 clock=graph l2=warm'
t = 'R median_us p5_us p95_us'
x(r) = r == 0 ? 16 : r
plot rows(f, 'variant=v6' . c, t) using (x($1)):2:3:4 with yerrorlines ls FAILED title 'v6', \
     rows(f, 'variant=v6-partial' . c, t) using (x($1)):2:3:4 with yerrorlines ls 2 title 'v6-partial', \
     rows(f, 'variant=v6-none-all' . c, t) using (x($1)):2:3:4 with yerrorlines ls 5 title 'v6-none-all (wrong)', \
     rows(f, 'variant=separate-tiled-all' . c, t) using (x($1)):2:3:4 with yerrorlines ls 6 title 'separate-tiled-all', \
     rows(f, 'variant=v6-partial-all' . c, t) using (x($1)):2:3:4 with yerrorlines ls 1 title 'v6-partial-all'
