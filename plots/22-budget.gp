# alt: Cycles per tile of the five kernels of step 22, D = 64, S = 2048, on a logarithmic axis. All cycles per tile fall to less than a quarter from the fragments and shared-tile kernels to the swizzle kernel, and further to the async and registers kernels. The wavefronts of shared memory are just below it in the first two kernels, and further below it from the swizzle kernel on. Products and exponentials take the same cycles in every kernel.
# data: step-22-profile.tsv
load 'plots/style.gp'
ways = 'a-fragments b-shared c-swizzle d-async e-registers'
said = 'fragments shared-tile swizzle async registers'
n = words(ways)
tiles = 32768.0 # 32 heads, 32 blocks of 64 queries, 32 tiles of 64 keys
seen(i, col) = real(cell('step-22-profile.tsv', sprintf('variant=%s case=D64-S2048 kernel=all', word(ways, i)), col))
took(i) = seen(i, 'wavefronts') / seen(i, 'pipe_pct') * 100 / tiles # cycles in which a multiprocessor has work
set ylabel 'cycles per tile, D = 64' offset 1.2, 0
set logscale y
set yrange [180:9000]
set ytics (200, 500, 1000, 2000, 5000)
set xrange [0.6:n + 0.4]
set xtics () scale 0 font ',12'
do for [i = 1:n] { set xtics add ((i % 2 ? '' : "\n") . word(said, i) i) }
set grid noxtics
set lmargin 8
set bmargin at screen 0.36
set key at screen 0.54, 0.005 bottom center maxrows 3 samplen 2.2 width 0
set print $all
do for [i = 1:n] {
    print sprintf('%d %g %g %g %g', i, took(i), seen(i, 'wavefronts') / tiles, seen(i, 'tensor_pct') / 100 * took(i), \
        seen(i, 'xu_pct') / 100 * took(i))
}
unset print
plot $all using 1:2 with linespoints ls 1 title 'all cycles', \
     $all using 1:3 with linespoints ls 2 title 'wavefronts', \
     $all using 1:4 with linespoints ls 3 title 'products', \
     $all using 1:5 with linespoints ls 4 title 'exponentials'
