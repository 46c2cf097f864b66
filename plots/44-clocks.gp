# alt: Time of a token on three clocks, logarithmic. On the graph clock all versions of ours are alike. With the host as slow as the log's framework, the stream and the call clock are several times that, and the slow call of the add shows on these two clocks only. PyTorch with a hand-written add through ctypes does the same.
# data: step-44.tsv peers-neox-times.tsv
load 'plots/style.gp'
ways = 'whole eight eight-called framework framework-called eager hand-add'
said = "'plain adds' 'our add' 'our add, slow call' 'slow host' 'slow host and call' 'PyTorch' 'PyTorch, our add'"
ours(v, clock) = cell('step-44.tsv', 'case=pythia l2=warm variant=' . v . ' clock=' . clock, 'median_us')
theirs(v, clock) = cell('peers-neox-times.tsv', 'case=pythia variant=' . v . ' clock=' . clock, 'median_us')
ms(i, clock) = 1e-3 * real(i <= 5 ? ours(word(ways, i), clock) : theirs(word(ways, i), clock))
set print $all
do for [i = 1:7] { print sprintf('%d %g %g %g', i, ms(i, 'graph'), ms(i, 'stream'), ms(i, 'call')) }
unset print
set xlabel 'time of a token, ms'
set logscale x
set xrange [1.5:30]
set xtics (2, 3, 5, 10, 20)
set yrange [7.6:0.4]
set ytics ()
do for [i = 1:7] { set ytics add (word(said, i) i) }
set lmargin 16
set key top right Right noreverse samplen 1 width 0
plot $all using 2:($1 - 0.2) with points ls 1 ps 1 title 'graph', \
     $all using 3:1 with points ls 2 ps 1 title 'stream', \
     $all using 4:($1 + 0.2) with points ls 3 ps 1 title 'call'
