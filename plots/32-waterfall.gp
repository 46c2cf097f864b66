# alt: A waterfall of times at D = 128 and S = 65,536, forward, from attention alone to attention that rotates q and k itself. Each bar adds one part of the work. Three bars: tiles of k rotated by angles in registers; angles in shared memory, a little less; angles from memory, and q rotated too, about as much again. Two diamonds below mark one RoPE kernel and RoPE op by op in front of attention: the first stands beside attention alone, the second before the end of the first of these bars.
# data: step-32.tsv
load 'plots/style.gp'
ways = 'attention cause:rotated-registers cause:staged-table fused'
said = "'attention alone' 'in registers' 'in shared memory' 'fused kernel'"
marks = 'one-kernel op-by-op'
marked = "'one RoPE kernel' 'RoPE op by op'"
if (!exists('at')) at = 'forward-D128-S65536'
n = words(ways)
ms(way) = real(cell('step-32.tsv', sprintf('clock=graph l2=warm case=%s variant=%s', at, way), 'median_us')) / 1000
array t[n + 2]
do for [i = 1:n] { t[i] = ms(word(ways, i)) }
do for [i = 1:2] { t[n + i] = ms(word(marks, i)) }
from(i) = i == 1 ? 0 : t[i - 1]
colour(i) = i == 1 ? FAINTC : t[i] <= t[i - 1] ? GOODC : BADC
most = t[1]
do for [i = 2:n + 2] { most = t[i] > most ? t[i] : most }
set xlabel 'ms per call at D = 128, S = 65,536'
set lmargin 15
set xrange [0:most * 1.4]
set yrange [n + 2.6:0.4]
set ytics ()
do for [i = 1:n] { set ytics add (word(said, i) i) }
do for [i = 1:2] { set ytics add (word(marked, i) n + i) }
set grid x noy
unset key
plot sample [i = 1:n:1] '+' using ((from(i) + t[int(i)]) / 2):(i):(from(i)):(t[int(i)]):(i - 0.34):(i + 0.34):(colour(i)) \
         with boxxyerror lc rgb variable, \
     [i = n + 1:n + 2:1] '+' using (t[int(i)]):(i) with points pt 13 ps 0.9 lc rgb INK, \
     [i = 1:n:1] '+' using (t[int(i)] > from(i) ? t[int(i)] : from(i)):(i):(i == 1 ? sprintf(' %.1f', t[1]) : sprintf(' %+.1f = %.1f', t[int(i)] - from(i), t[int(i)])) \
         with labels left font ',12' textcolor rgb INK, \
     [i = n + 1:n + 2:1] '+' using (t[int(i)]):(i):(sprintf('  %.1f', t[int(i)])) with labels left font ',12' textcolor rgb INK
