# alt: The cost of one add of 64 in a row on one row of 2560, by who launches it, on a logarithmic axis. As one CUDA graph, from C or from PyTorch, it is lowest. One by one from C it is a few times that, from PyTorch more than twice as much again, from our kernel in a library that Python calls about twice PyTorch's, and from PyTorch's compiler by far the most. On the stream and on the call clock it is nearly the same.
# data: step-39.tsv peers.tsv
load 'plots/style.gp'
set xlabel 'time of an add, µs'
set logscale x
set xrange [0.7:120]
set xtics (1, 2, 5, 10, 20, 50)
set lmargin 21
variants = 'graphed eager-graphed eight eager ours-ctypes compiled'
titles = "'C, one graph' 'PyTorch, one graph' 'C' 'PyTorch' 'ours, from Python' 'PyTorch, compiled'"
file(v) = v eq 'graphed' || v eq 'eight' ? 'step-39.tsv' : 'peers.tsv'
got(i, clock) = rows(file(word(variants, i)), 'step=39 case=token l2=warm clock=' . clock . ' variant=' . word(variants, i), 'B median_us')
set yrange [5.6:-0.6]
set ytics () nomirror textcolor rgb INK font ',12' scale 0
do for [i = 1:6] { set ytics add (word(titles, i) i - 1) }
set bmargin 4.6
set key at screen 0.6, 0.02 bottom center maxrows 1 samplen 1.6 width 2
plot for [i = 1:6] got(i, 'stream') using ($2/$1):(i - 1) with points ls 1 title (i == 1 ? 'stream' : ''), \
     for [i = 1:6] got(i, 'call') using ($2/$1):(i - 1) with points ls 2 title (i == 1 ? 'call' : ''), \
     for [i = 1:6] got(i, 'stream') using ($2/$1):(i - 1):(sprintf('%.1f', $2/$1)) with labels left offset 1, 0 textcolor rgb INK notitle
