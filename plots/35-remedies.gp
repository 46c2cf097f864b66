# alt: The fused kernel: how many times as fast as RoPE op by op with attention, against the length S on logarithmic axes, at D = 128. One line is step 32's kernel, and there is one for a variant of each remedy: the small shape, the large shape, overwritten, and angles staged in shared memory with 32 keys. All begin above 2 at 512 and fall below the dashed line at 1, where fusing loses: the small shape first and farthest; the large shape and overwritten stay nearest to 1.
# data: step-32.tsv step-33.tsv step-34.tsv step-35.tsv
load 'plots/style.gp'
ratio(step, name) = rows(sprintf('step-%d.tsv', step), sprintf('clock=graph l2=warm D=128 variant=%s', name), 'Sk ratio case') . \
    ' | grep forward'
steps = '32 33 33 34 35'
names = 'fused tile:m64-n32-w4-s3 tile:m256-n64-w8-s2 fused-overwritten staged-n32'
said = "'step 32' 'the small shape' 'the large shape' 'overwritten' 'staged, 32 keys'"
set logscale x 2
set logscale y
set xrange [400:175000]
set xtics ('512' 512, '2k' 2048, '8k' 8192, '32k' 32768, '128k' 131072)
set xlabel 'S'
set ylabel 'times as fast as op by op'
set yrange [0.5:4.5]
set ytics (0.5, 0.7, 1, 1.5, 2, 3, 4)
set key top right
plot 1 with lines ls LIMIT title 'RoPE op by op', \
     for [i = 1:5] ratio(int(word(steps, i)), word(names, i)) using 1:2 with linespoints ls i ps 0.55 title word(said, i)
