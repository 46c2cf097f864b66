# alt: Time of a call at D = 2048 against the shared memory that a block may use. V5 with one key per thread (v5) takes twice as long as separate at 40 KB, falls below it to a minimum at 113 KB, and rises again at 227 KB, still below separate. With all threads busy (v5-all) it is below separate throughout, lowest at 113 KB.
# data: step-10.tsv
load 'plots/style.gp'
set xlabel 'shared memory a block may use, KB'
set ylabel 'time of a call, µs'
set xrange [25:240]
set logscale y
set yrange [50:500]
set ytics (50, 100, 200, 500)
set xtics (40, 80, 113, 160, 227)
set bmargin 6.4
set key at screen 0.54, 0.02 bottom center maxrows 3 samplen 2.4 width -2
f = 'step-10.tsv'
t(v, col) = cell(f, 'case=D2048 clock=graph l2=warm variant=' . v, col)
line(kb, v) = sprintf('%d %s %s %s', kb, t(v, 'median_us'), t(v, 'p5_us'), t(v, 'p95_us'))
set print $one
print line(40, 'v5')
print line(48, 'v5-48k')
print line(80, 'v5-80k')
print line(113, 'v5-113k')
print line(227, 'v5-opt-in')
unset print
set print $all
print line(40, 'v5-all')
print line(113, 'v5-all-113k')
print line(227, 'v5-all-opt-in')
unset print
separate = real(t('separate', 'median_us'))
plot $one using 1:2:3:4 with yerrorlines ls FAILED title 'one key per thread (v5, v5-48k, v5-80k, ...)', \
     $all using 1:2:3:4 with yerrorlines ls 1 title 'all threads (v5-all, v5-all-113k, ...)', \
     separate with lines ls 2 title 'separate'
