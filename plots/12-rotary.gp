# alt: Time of a call at D = 2048 against R, the axis from 50 µs. V6 with one key a thread stays at 89 µs. Turning only R dimensions starts at 77 and rises to it. Turning none takes 72. With all threads busy, V6 rises from 65 to 69 µs and meets separate with the same tiles at R = 2048.
# data: step-12.tsv
load 'plots/style.gp'
set xlabel 'dimensions that turn, R (of D = 2048)'
set ylabel 'time of a call, µs'
set logscale x 2
set xrange [12:2900]
set yrange [50:130]
set xtics ('0' 16, 32, 64, 128, 512, 2048)
set key top left samplen 2
f = 'step-12.tsv'
c = ' D=2048 clock=graph l2=warm'
t = 'R median_us p5_us p95_us'
x(r) = r == 0 ? 16 : r
plot rows(f, 'variant=v6' . c, t) using (x($1)):2:3:4 with yerrorlines ls FAILED title 'V6, one key a thread', \
     rows(f, 'variant=v6-partial' . c, t) using (x($1)):2:3:4 with yerrorlines ls 2 title 'the same, R only', \
     rows(f, 'variant=v6-none' . c, t) using (x($1)):2:3:4 with yerrorlines ls 5 title 'the same, none (wrong)', \
     rows(f, 'variant=separate-tiled-all' . c, t) using (x($1)):2:3:4 with yerrorlines ls 6 title 'separate, tiled, all threads', \
     rows(f, 'variant=v6-partial-all' . c, t) using (x($1)):2:3:4 with yerrorlines ls 1 title 'R only, all threads'
