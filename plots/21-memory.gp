# alt: Memory of naive attention and of flash against the sequence length, both axes logarithmic. Naive grows by four for each doubling and crosses the device's memory, a dashed line, before the longest, which is marked as out of memory. flash grows by two, and lies far below.
# data: step-21.tsv ceilings.tsv
load 'plots/style.gp'
set xlabel 'sequence length S'
set ylabel 'memory, GB'
set logscale xy
set xtics (512, 2048, 8192, '32,768' 32768)
set xrange [400:90000]
set format y '10^{%T}'
set yrange [1e-3:2e3]
set bmargin at screen 0.34
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.2 width 0
w = 'clock=- causal=0 B=4 H=8 D=64 '
memory = ceiling('memory_gb')
plot rows('step-21.tsv', w . 'variant=naive status=ok', 'Sq device_bytes') using 1:($2/1e9) \
         with linespoints ls 2 title 'naive', \
     rows('step-21.tsv', w . 'variant=naive status=oom', 'Sq device_bytes') using 1:($2/1e9) \
         with points ls FAILED ps 1.2 title 'out of memory', \
     rows('step-21.tsv', w . 'variant=flash status=ok', 'Sq bytes') using 1:($2/1e9) \
         with linespoints ls 1 title 'flash', \
     memory with lines ls LIMIT title 'memory there is'
