# alt: A waterfall of the time of a decode step at the 2.8B shape on the call clock, from plain, one kernel per operation, to together, all changes in one graph. graph and graph-pairs are the long bars; graph-add3, graph-norm, graph-beside, graph-horizontal and together are shorter. A dashed line is the limit, a second one is somewhat longer, and the last version ends left of it.
# data: step-45.tsv
load 'plots/style.gp'
ways = 'plain graph graph-add3 graph-norm graph-pairs graph-beside graph-horizontal together'
n = words(ways)
where(i) = 'clock=call l2=warm case=pythia variant=' . word(ways, i)
array t[n]
do for [i = 1:n] { t[i] = 1e-3 * real(cell('step-45.tsv', where(i), 'median_us')) }
limit = 1e-3 * real(cell('step-45.tsv', where(1), 'limit_us'))
from(i) = i == 1 ? 0 : t[i - 1]
colour(i) = i == 1 ? FAINTC : t[i] <= t[i - 1] ? GOODC : BADC
set xlabel 'time of a decode step, ms, call clock'
set lmargin 15
set xrange [0:t[1] * 1.16]
set tmargin 4
set title offset 0, 0.9
set yrange [n + 0.6:0.4]
set ytics ()
do for [i = 1:n] { set ytics add (word(ways, i) i) }
set grid x noy
unset key
set arrow 1 from limit, 0.4 to limit, n + 0.6 nohead ls LIMIT front
set arrow 2 from 1.4 * limit, 0.4 to 1.4 * limit, n + 0.6 nohead ls LIMIT front
set label 1 'limit' at limit, graph 1.06 right font ',12' textcolor rgb INK
set label 2 '1.4 × limit' at 1.4 * limit, graph 1.06 left font ',12' textcolor rgb INK
plot sample [i = 1:n:1] '+' using ((from(i) + t[int(i)]) / 2):(i):(from(i)):(t[int(i)]):(i - 0.34):(i + 0.34):(colour(i)) \
         with boxxyerror lc rgb variable, \
     [i = 1:n:1] '+' using (t[1] * 1.01):(i):(sprintf(' %.2f', t[int(i)])) \
         with labels left font ',12' textcolor rgb INK
