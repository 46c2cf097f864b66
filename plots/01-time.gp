# alt: Time of naive attention against the sequence length, both axes logarithmic. The curves, with and without causal mask, lie far above the dashed limit and grow by four for each doubling at the long end.
# data: step-01.tsv
load 'plots/style.gp'
set xlabel 'sequence length S'
set ylabel 'time of a call, ms'
set logscale xy
set xtics (64, 256, 1024, 4096, '16,384' 16384)
set format y '10^{%T}'
set bmargin 5.2
set key at screen 0.56, 0.02 bottom center maxrows 2 samplen 2.4 width 1
w = 'variant=naive H=8 clock=graph l2=warm '
plot rows('step-01.tsv', w . 'causal=0', 'Sq median_us p5_us p95_us') \
         using 1:($2/1e3):($3/1e3):($4/1e3) with yerrorlines ls 1 title 'naive', \
     rows('step-01.tsv', w . 'causal=1', 'Sq median_us p5_us p95_us') \
         using 1:($2/1e3):($3/1e3):($4/1e3) with yerrorlines ls 2 title 'naive, causal', \
     rows('step-01.tsv', w . 'causal=0', 'Sq limit_us') using 1:($2/1e3) with lines ls LIMIT title 'limit'
