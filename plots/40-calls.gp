# alt: How many times as fast as the plain model a token is, in the shape of Pythia-2.8B, on three clocks. The copy that never calls the new add and the wrapper that counts but launches the plain one stand at 1 on each clock. The integration that does call it stands at 1 or near it.
# data: step-40.tsv
load 'plots/style.gp'
set xlabel 'times as fast as plain'
set lmargin 13
set yrange [2.6:-0.6]
set ytics ('not-called' 0, 'miscounted' 1, 'called' 2) nomirror textcolor rgb INK font ',12' scale 0
set xrange [0.97:1.03]
set xtics 0.01 format '%.2f'
set bmargin 4.8
set key at screen 0.5, 0.02 center bottom vertical maxrows 1 samplen 1.6 width 1
set arrow 1 from 1, -0.6 to 1, 2.6 nohead ls LIMIT back
variants = 'not-called miscounted called'
clocks = 'graph stream call'
f = 'step-40.tsv'
got(i, j) = rows(f, 'case=pythia l2=warm clock=' . word(clocks, j) . ' variant=' . word(variants, i), 'ratio ratio_p5 ratio_p95')
plot for [j = 1:3] for [i = 1:3] got(i, j) using 1:(i - 1 + 0.22 * (j - 2)):2:3 with xerrorbars ls j notitle, \
     for [j = 1:3] keyentry with linespoints ls j title word(clocks, j)
