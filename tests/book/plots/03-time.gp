# alt: Time of a call against D, both axes logarithmic. The shuffle version is below the tree at every D, both above the limit.
# data: step-03.tsv ceilings.tsv
load 'plots/style.gp'
set xlabel 'head dimension D'
set ylabel 'time of a call, µs'
set logscale xy
set xtics (64, 128, 256, 512, '' 1024, 2048)
set xrange [50:2600]
set yrange [0.4:60]
launch = ceiling('launch_graph_us')
set label ' empty launch' at 300, launch * 1.3
plot rows('step-03.tsv', 'variant=tree clock=graph', 'D median_us p5_us p95_us') \
         using 1:2:3:4 with yerrorlines ls 1 title 'tree', \
     rows('step-03.tsv', 'variant=shuffle clock=graph', 'D median_us') with linespoints ls FAILED title 'shuffle (wrong)', \
     rows('step-03.tsv', 'variant=tree clock=graph', 'D limit_us') with lines ls LIMIT title 'limit', \
     launch with lines ls 6 notitle
