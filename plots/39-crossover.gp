# alt: Time of one add against the number of rows, both axes logarithmic, on three clocks. To the left every clock is a flat line at its own launch cost: call highest, stream below it, graph lowest. To the right all bend upwards and meet the slanted lines of the bytes. Thin dotted lines are the time of an empty kernel on each clock.
# data: step-39.tsv ceilings.tsv
load 'plots/style.gp'
set xlabel 'rows of 2560 (fp16)'
set ylabel 'time of one add, µs'
set logscale xy
set xrange [0.8:5200]
set yrange [0.3:40]
set xtics (1, 4, 16, 64, 256, 1024, 4096)
set ytics (0.5, 1, 2, 5, 10, 20)
set bmargin 7
set key at screen 0.52, 0.015 bottom center maxrows 3 samplen 2.2 width 1
f = 'step-39.tsv'
w = 'B=1 D=2560 variant=eight '
c = 'Sq median_us p5_us p95_us'
empty(clock) = ceiling('launch_' . clock . '_us')
bytes(rows, rate) = 3 * 2 * 2560.0 * rows / (ceiling(rate) * 1e6)
plot rows(f, w . 'clock=call l2=warm', c) using 1:2:3:4 with yerrorlines ls 4 title 'call', \
     rows(f, w . 'clock=stream l2=warm', c) using 1:2:3:4 with yerrorlines ls 3 title 'stream', \
     rows(f, w . 'clock=graph l2=warm', c) using 1:2:3:4 with yerrorlines ls 1 title 'graph, warm L2', \
     rows(f, w . 'clock=graph l2=cold', c) using 1:2:3:4 with yerrorlines ls 2 title 'graph, cold L2', \
     for [clock in 'graph stream call'] empty(clock) with lines lc rgb SOFT lw 0.9 dt (2, 3) notitle, \
     bytes(x, 'copy_tbps') with lines ls LIMIT title 'copy', \
     bytes(x, 'l2_read_tbps') with lines lc rgb SOFT lw 1.4 title 'L2 read'
