# alt: Time of each variant on a logarithmic axis, in bare at near positions, in bare at far positions, and in rope at far positions. In bare at near positions, the fast functions are the shortest and the table the longest. fp32 takes more than twice as long at far positions as at near ones. In rope all are near the memory limit except fp32.
# data: step-20.tsv
load 'plots/style.gp'
set xlabel 'time of a call, µs'
set logscale x
set xrange [5:150]
set xtics (5, 10, 20, 50, 100)
set yrange [5.6:-0.7]
set lmargin 12
set bmargin 6.3
set key at screen 0.5, 0.02 bottom center maxrows 3 samplen 1.5
f = 'step-20.tsv'
c = 'variant median_us'
w = ' clock=graph l2=warm variant!=powf-fast variant!=table-bf16'
l = real(cell(f, 'case=rope-far variant=table clock=graph l2=warm', 'limit_us'))
set arrow 1 from l, -0.7 to l, 5.6 nohead ls LIMIT
plot rows(f, 'case=bare-near' . w, c) using 2:($0-0.15):ytic(1) with points ls 1 ps 0.9 title 'bare, near', \
     rows(f, 'case=bare-far' . w, c) using 2:($0+0.15) with points ls 2 pt 4 ps 0.8 title 'bare, far', \
     rows(f, 'case=rope-far' . w, c) using 2:0 with points ls 3 ps 0.9 title 'rope, far; its limit'
