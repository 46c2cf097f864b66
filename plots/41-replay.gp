# alt: Bars of the time of a token as a CUDA graph in the shape of Pythia-2.8B, of four ways to do its adds. The three that are right take about the same. The one whose adds go to another stream, and so are not in the graph, is the fastest, and is crossed out.
# data: step-41.tsv
load 'plots/style.gp'
set xlabel 'a token as a graph, µs'
set lmargin 17
set xrange [0:3600]
set xtics 1000
set rmargin 2.5
set yrange [3.6:-0.6]
set ytics ('strided: plain adds' 0, 'raw' 1, 'checked' 2, 'other-stream' 3) nomirror textcolor rgb INK font ',12' scale 0
unset key
variants = 'strided raw checked other-stream'
f = 'step-41.tsv'
got(i) = rows(f, 'case=pythia l2=warm clock=graph variant=' . word(variants, i), 'median_us p5_us p95_us')
plot for [i = 1:4] got(i) using ($1/2):(i - 1):($1/2):(0.3) with boxxyerror lc rgb (i < 4 ? GOOD : FAINT) notitle, \
     for [i = 1:4] got(i) using 1:(i - 1):2:3 with xerrorbars lc rgb INK pt 0 notitle, \
     for [i = 1:4] got(i) using 3:(i - 1):(sprintf('%.0f', $1)) with labels left offset 0.6, 0 textcolor rgb INK notitle, \
     got(4) using ($1/2):(3) with points ls FAILED ps 2.2 lw 2.4 notitle
