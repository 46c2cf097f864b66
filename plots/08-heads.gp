# alt: Speed relative to three separate launches at D = 512, against the number of heads from 4 to 64, for one, four and eight queries per block, and for four queries per block over keys rotated beforehand. With 4 heads all lie below 1, eight queries lowest. One query per block stays at 1. With 64 heads more queries are faster, eight the fastest. Four queries over keys rotated beforehand are as fast as four that rotate them.
# data: step-08.tsv
load 'plots/style.gp'
set xlabel 'heads (D = 512, 64 queries and 64 keys each)'
set ylabel 'times as fast as separate'
set logscale x 2
set xrange [3.4:76]
set xtics (4, 8, 16, 32, 64)
set yrange [0:*]
set bmargin 6.4
set key at screen 0.56, 0.02 bottom center maxrows 3 samplen 2.4 width -1
f = 'step-08.tsv'
w = ' D=512 R=512 clock=graph l2=warm'
c = 'H ratio ratio_p5 ratio_p95'
plot 1 with lines ls LIMIT title 'separate', \
     rows(f, 'variant=v2-scalar' . w, c) using 1:2:3:4 with yerrorlines ls 1 title 'v2-scalar', \
     rows(f, 'variant=v3' . w, c) using 1:2:3:4 with yerrorlines ls 2 title 'v3', \
     rows(f, 'variant=queries-8' . w, c) using 1:2:3:4 with yerrorlines ls 4 title 'queries-8', \
     rows(f, 'variant=separate-4' . w, c) using 1:2:3:4 with yerrorlines ls 3 title 'separate-4'
