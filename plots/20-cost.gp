# alt: Time of each path on a logarithmic axis, alone at near positions, alone at far positions, and inside a RoPE kernel. Alone, the fast functions are the shortest and the fp32 table the longest, and fp32 with sincosf takes more than twice as long at far positions as at near ones. Inside RoPE all stand near the memory limit but sincosf at far positions.
# data: step-20.tsv
load 'plots/style.gp'
set xlabel 'time of a call, µs'
set logscale x
set xrange [5:150]
set xtics (5, 10, 20, 50, 100)
set yrange [7.6:-0.7]
set lmargin 12
set bmargin 6.3
set key at screen 0.5, 0.02 bottom center maxrows 3 samplen 1.5
f = 'step-20.tsv'
c = 'variant median_us'
l = real(cell(f, 'case=rope-far variant=table clock=graph l2=warm', 'limit_us'))
set arrow 1 from l, -0.7 to l, 7.6 nohead ls LIMIT
plot rows(f, 'case=bare-near clock=graph l2=warm', c) using 2:($0-0.15):ytic(1) with points ls 1 ps 0.9 title 'alone, positions below 65,536', \
     rows(f, 'case=bare-far clock=graph l2=warm', c) using 2:($0+0.15) with points ls 2 pt 4 ps 0.8 title 'alone, from 131,072 on', \
     rows(f, 'case=rope-far clock=graph l2=warm', c) using 2:0 with points ls 3 ps 0.9 title 'in RoPE, from 122,880 on; its limit'
