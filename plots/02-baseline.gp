# alt: Time of the baseline on the graph clock against D, with a warm and a cold L2, beside attention alone and the limit, both axes logarithmic. Attention makes up nearly all of the time at large D. A cold L2 costs more at every D.
# data: step-02.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'time of a call, µs'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set ytics (1, 10, 100)
set yrange [0.3:400]
set bmargin 5.2
set key at screen 0.56, 0.02 bottom center maxrows 2 samplen 2.4 width 0
full = " | awk '$1 == $2'"
f = 'step-02.tsv'
plot rows(f, 'variant=separate clock=graph l2=cold', 'D R median_us p5_us p95_us') . full \
         using 1:3:4:5 with yerrorlines ls 2 title 'cold L2', \
     rows(f, 'variant=separate clock=graph l2=warm', 'D R median_us p5_us p95_us') . full \
         using 1:3:4:5 with yerrorlines ls 1 title 'warm L2', \
     rows(f, 'variant=attention-alone clock=graph l2=warm', 'D median_us p5_us p95_us') \
         using 1:2:3:4 with yerrorlines ls 3 title 'attention alone', \
     rows(f, 'variant=separate clock=graph l2=warm', 'D R limit_us') . full using 1:3 with lines ls LIMIT title 'limit'
