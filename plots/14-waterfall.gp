# alt: A waterfall of times at D = 2048 on the call clock, from reference-separate down to split-once. joined and hybrid are slivers, unstaged and separate short steps. v7, two-blocks, busy and split are the long steps.
# data: step-14.tsv
load 'plots/style.gp'
if (!exists('D')) D = 2048
ways = 'reference-separate unstaged separate joined hybrid v7 once two-blocks busy split split-once'
n = words(ways)
where(i) = sprintf('clock=call l2=warm case=D%d variant=%s', D, word(ways, i))
array t[n]
do for [i = 1:n] { t[i] = real(cell('step-14.tsv', where(i), 'median_us')) }
from(i) = i == 1 ? 0 : t[i - 1]
colour(i) = i == 1 ? FAINTC : t[i] <= t[i - 1] ? GOODC : BADC
set xlabel sprintf('µs per call at D = %d, call clock', D)
set lmargin 17
set xrange [0:t[1] * 1.16]
set yrange [n + 0.6:0.4]
set ytics ()
do for [i = 1:n] { set ytics add (word(ways, i) i) }
set grid x noy
unset key
plot sample [i = 1:n:1] '+' using ((from(i) + t[int(i)]) / 2):(i):(from(i)):(t[int(i)]):(i - 0.34):(i + 0.34):(colour(i)) \
         with boxxyerror lc rgb variable, \
     [i = 1:n:1] '+' using (t[int(i)] > from(i) ? t[int(i)] : from(i)):(i):(sprintf(' %.3g', t[int(i)])) \
         with labels left font ',12' textcolor rgb INK
