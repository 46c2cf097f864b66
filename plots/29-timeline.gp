# alt: What one block of the ping-pong kernel and one of the overlap kernel do in some thousand cycles, as recorded: a row for the producer, which waits and starts copies, and three for each of two consumer warpgroups: scores, values, and probabilities with waits. In the ping-pong kernel the two warpgroups compute probabilities nearly at the same time, and no bar of a product lies beside most of that. In the overlap kernel the bars of values are two to three times as long and lie beside the warpgroup's own probabilities, since they end where it waits.
# data: step-29-timeline.tsv
tall = 400
load 'plots/style.gp'
f = 'step-29-timeline.tsv'
which = 'c-recorded d-recorded'
kernels = 'ping-pong overlap'
roles = 'producer warpgroup-0 warpgroup-1'
said = "'producer' 'warpgroup 0' 'warpgroup 1'"
X = 7000
FROM = 8 # the tile at whose scores the picture begins
where(v, r) = sprintf('variant=%s case=recorded role=%s', word(which, v), word(roles, r))
array zero[2]
do for [v = 1:2] { zero[v] = real(cell(f, where(v, 2) . sprintf(' event=scores tile=%d', FROM), 'start')) - 300 }
got(v, r, event) = rows(f, where(v, r) . ' event=' . event, 'start end')
# From the top: ping-pong, a gap, overlap. A producer has one row, a warpgroup three.
top(v, r) = (2 - v) * 9.6 + (r == 1 ? 7 : r == 2 ? 6 : 3)
y(v, r, row) = top(v, r) - row - 0.5
in(v, x) = x - zero[v] < 0 ? 0 : x - zero[v] > X ? X : x - zero[v]
set xrange [0:X]
set yrange [-0.1:18.8]
set xlabel 'cycles of the multiprocessor' offset 0, 0.6
set xtics 1000
unset ytics
unset grid
set border 1
set lmargin at screen 0.24
set rmargin at screen 0.94
set bmargin at screen 0.24
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 1.4 width 1
set style fill solid 0.9 border lc rgb PANEL
do for [v = 1:2] {
    set label 10 * v word(kernels, v) . ' kernel' at graph 0, first top(v, 1) + 0.9 left font ',13' textcolor rgb INK
    do for [r = 1:3] {
        set label 10 * v + r word(said, r) at graph -0.02, first (r == 1 ? y(v, 1, 0) : y(v, r, 1)) right font ',12' textcolor rgb INK
        set arrow 10 * v + r nohead from 0, top(v, r) to X, top(v, r) lc rgb GRID
    }
}
b(v, r, event, row) = sprintf("got(%d, %d, '%s') using (in(%d, $1)):(y(%d, %d, %d)):(in(%d, $1)):(in(%d, $2)):(y(%d, %d, %d) - 0.42):(y(%d, %d, %d) + 0.42) with boxxyerror lc rgb '%s' notitle, ", \
    v, r, event, v, v, r, row, v, v, v, r, row, v, r, row, event eq 'wait' ? GRID : event eq 'load' ? '#7a6200' : event eq 'scores' ? '#0a5ea8' : event eq 'values' ? '#c2480a' : '#007a5e')
all = ''
do for [v = 1:2] {
    all = all . b(v, 1, 'wait', 0) . b(v, 1, 'load', 0)
    do for [r = 2:3] { all = all . b(v, r, 'scores', 0) . b(v, r, 'values', 1) . b(v, r, 'wait', 2) . b(v, r, 'softmax', 2) }
}
eval 'plot ' . all . "keyentry with boxes lc rgb '#7a6200' title 'load', keyentry with boxes lc rgb GRID title 'wait', keyentry with boxes lc rgb '#0a5ea8' title 'scores', keyentry with boxes lc rgb '#c2480a' title 'values', keyentry with boxes lc rgb '#007a5e' title 'softmax'"
