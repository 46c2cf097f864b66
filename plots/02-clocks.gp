# alt: Time of one call of the baseline, three launches, against D on three clocks, both axes logarithmic. At small D the call clock shows about twice the time of the graph clock, and the stream clock lies between, nearer to the graph clock. At D = 2048 they differ by a few per cent. All lie far above the dashed limit.
# data: step-02.tsv
load 'plots/style.gp'
set xlabel 'head dimension D (R = D)'
set ylabel 'time of a call, µs'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set yrange [0.3:400]
set ytics (1, 10, 100)
set bmargin 5.2
set key at screen 0.56, 0.02 bottom center maxrows 2 samplen 2.4 width 1
full = " | awk '$1 == $2'"
f = 'step-02.tsv'
plot for [clock in 'graph stream call'] rows(f, 'variant=separate l2=warm clock=' . clock, 'D R median_us p5_us p95_us') . full \
         using 1:3:4:5 with yerrorlines ls (clock eq 'graph' ? 1 : clock eq 'stream' ? 2 : 3) title clock, \
     rows(f, 'variant=separate l2=warm clock=graph', 'D R limit_us') . full \
         using 1:3 with lines ls LIMIT title 'limit, graph clock'
