# alt: Memory of naive attention against the sequence length, both axes logarithmic. It grows by four for each doubling and crosses the device's memory, a dashed line, before the last point, which is marked as out of memory.
# data: step-01.tsv ceilings.tsv
load 'plots/style.gp'
set xlabel 'sequence length S'
set ylabel 'memory, GB'
set logscale xy
set xtics (64, 512, 4096, '32,768' 32768)
set format y '10^{%T}'
set yrange [1e-4:1e3]
set bmargin 5.2
set key at screen 0.56, 0.02 bottom center maxrows 2 samplen 2.4 width -2
w = 'variant=naive clock=- causal=0 B=1 H=8 '
memory = ceiling('memory_gb')
plot rows('step-01.tsv', w . 'status=ok', 'Sq device_bytes') using 1:($2/1e9) with linespoints ls 1 title 'fits', \
     rows('step-01.tsv', w . 'status=oom', 'Sq device_bytes') using 1:($2/1e9) with points ls FAILED ps 1.2 \
         title 'out of memory', \
     memory with lines ls LIMIT title 'memory there is'
