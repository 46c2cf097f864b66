# alt: Time of one call of the baseline against D on three clocks. At small D the call clock shows nearly twice the time of the graph clock, at D = 2048 they agree. Two launches lie below three on every clock. All lie far above the dashed limit.
# data: step-02.tsv
load 'plots/style.gp'
set xlabel 'head dimension D (R = D)'
set ylabel 'time of a call, µs'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set yrange [0.3:6000]
set ytics (1, 10, 100, 1000)
full = " | awk '$1 == $2'"
f = 'step-02.tsv'
c = 'D R median_us'
plot for [i = 1:3] rows(f, 'variant=separate l2=warm clock=' . word('graph stream call', i), c) . full \
         using 1:3 with linespoints ls i title word('graph stream call', i) . ', 3 launches', \
     for [i = 1:3] rows(f, 'variant=two-launches l2=warm clock=' . word('graph stream call', i), c) . full \
         using 1:3 with lines ls i lw 0.9 dt (2, 3) title (i == 1 ? 'dotted: 2 launches' : ''), \
     rows(f, 'variant=separate l2=warm clock=graph', 'D R limit_us') . full \
         using 1:3 with lines ls LIMIT title 'limit, graph clock'
