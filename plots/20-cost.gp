# alt: Time of each path on a logarithmic axis, alone at near positions, alone at far positions, and inside a RoPE kernel. Alone they take from 6 to 19 microseconds, and fp32 with sincosf 34 at far positions. Inside RoPE all stand near the memory limit but sincosf at far positions, which is a third slower.
# data: step-20.tsv
load 'plots/style.gp'
set xlabel 'time of a call, µs'
set logscale x
set xrange [5:150]
set xtics (5, 10, 20, 50, 100)
set yrange [7.6:-4]
set lmargin 12
set key top left samplen 1.5
f = 'step-20.tsv'
c = 'variant median_us'
l = real(cell(f, 'case=rope-far variant=table clock=graph l2=cold', 'limit_us'))
set arrow 1 from l, -0.4 to l, 7.6 nohead ls LIMIT
plot rows(f, 'case=bare-near clock=graph l2=warm', c) using 2:($0-0.15):ytic(1) with points ls 1 ps 0.9 title 'alone, positions below 65536', \
     rows(f, 'case=bare-far clock=graph l2=warm', c) using 2:($0+0.15) with points ls 2 pt 4 ps 0.8 title 'alone, from 131072 on', \
     rows(f, 'case=rope-far clock=graph l2=cold', c) using 2:0 with points ls 3 ps 0.9 title 'in RoPE, from 122880 on; its limit'
