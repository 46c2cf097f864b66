# alt: Time of a decode step on three clocks, logarithmic. On the graph clock all versions of ours are alike. With a host as slow as the log's framework, the stream and the call clock are several times that, and the slow call of the add shows on these two clocks only. PyTorch with a hand-written add is where PyTorch is on the graph clock; on the other two its bars are so wide that they overlap.
# data: step-44.tsv peers-neox-times.tsv
load 'plots/style.gp'
ways = 'whole eight eight-called framework framework-called eager hand-add'
said = "'whole' 'eight' 'eight-called' 'framework' 'framework-called' 'PyTorch: eager' 'PyTorch: hand-add'"
clocks = 'graph stream call'
ours(v, clock, col) = cell('step-44.tsv', 'case=pythia l2=warm variant=' . v . ' clock=' . clock, col)
theirs(v, clock, col) = cell('peers-neox-times.tsv', 'case=pythia variant=' . v . ' clock=' . clock, col)
ms(i, clock, col) = 1e-3 * real(i <= 5 ? ours(word(ways, i), clock, col) : theirs(word(ways, i), clock, col))
set print $all
do for [i = 1:7] {
    do for [j = 1:3] {
        print sprintf('%d %d %g %g %g', i, j, ms(i, word(clocks, j), 'median_us'), \
            ms(i, word(clocks, j), 'p5_us'), ms(i, word(clocks, j), 'p95_us'))
    }
}
unset print
set xlabel 'time of a decode step, ms'
set logscale x
set xrange [1.8:48]
set xtics (2, 5, 10, 20, 40)
set yrange [7.6:0.4]
set ytics ()
do for [i = 1:7] { set ytics add (word(said, i) i) }
set lmargin 18
set bmargin 4.8
set key at screen 0.55, 0.02 center bottom vertical maxrows 1 samplen 1 width 2
plot for [j = 1:3] $all using ($2 == j ? $3 : NaN):($1 + 0.22 * (j - 2)):4:5 with xerrorbars ls j ps 0.9 \
         title word(clocks, j)
