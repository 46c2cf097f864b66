# alt: Time of naive attention, of the two-pass kernel and of flash against the sequence length, both axes logarithmic. All grow by four for each doubling. flash lies a little below the two-pass kernel, and both far below naive. The dashed limit of the fp32 units without a mask lies at half of the time of flash, and at long sequences as low as flash under a mask.
# data: step-21.tsv ceilings.tsv
load 'plots/style.gp'
set xlabel 'sequence length S'
set ylabel 'time of a call, ms'
set logscale xy
set xtics (512, 1024, 2048, 4096, 8192, '16,384' 16384)
set xrange [420:20000]
set format y '10^{%T}'
set yrange [1e-2:1e3]
set bmargin at screen 0.4
set key at screen 0.54, 0.005 bottom center maxrows 3 samplen 2.2 width 0
f = 'step-21.tsv'
w = ' clock=graph l2=warm B=4 H=8 D=64 causal='
c = 'Sq median_us p5_us p95_us'
# 128 multiply-adds per multiprocessor and cycle, in operations per microsecond.
fp32 = 256 * ceiling('sms') * ceiling('clock_mhz')
plot rows(f, 'variant=naive' . w . '0', c) using 1:($2/1e3):($3/1e3):($4/1e3) with yerrorlines ls 2 title 'naive', \
     rows(f, 'variant=two-passes' . w . '0', c) using 1:($2/1e3):($3/1e3):($4/1e3) with yerrorlines ls 3 title 'two-pass kernel', \
     rows(f, 'variant=flash' . w . '0', c) using 1:($2/1e3):($3/1e3):($4/1e3) with yerrorlines ls 1 title 'flash', \
     rows(f, 'variant=flash' . w . '1', c) using 1:($2/1e3):($3/1e3):($4/1e3) with yerrorlines ls 4 title 'flash, causal', \
     rows(f, 'variant=flash' . w . '0', 'Sq flops') using 1:($2/fp32/1e3) with lines ls LIMIT title 'limit'
