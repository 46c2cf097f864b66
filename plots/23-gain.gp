# alt: For each of sixteen rows of the tuning table, D and mask and length, how many times as fast the winner is as four others: step 22's registers kernel, the candidate with the tile of step 22, the next best candidate, and the slowest of those that win at other lengths. A band marks what tuning gained in E4. Over the registers kernel the winner gains between nothing and a tenth.
# data: tuned-flash.tsv step-22.tsv
load 'plots/style.gp'
f = 'tuned-flash.tsv'
lengths = '512 2048 8192 16384'
said = '512 2k 8k 16k'
n = words(lengths)
where(k, i) = sprintf('B=4 H=8 D=%d causal=%d Sq=%s Sk=%s', k > 2 ? 128 : 64, (k + 1) % 2, word(lengths, i), word(lengths, i))
us(k, i, col) = real(cell(f, where(k, i), col))
rung(k, i) = real(cell('step-22.tsv', 'variant=e-registers clock=graph l2=warm ' . where(k, i), 'median_us'))
at(k, i) = (k - 1) * (n + 1) + i
set print $all
do for [k = 1:4] {
    do for [i = 1:n] {
        best = us(k, i, 'us')
        print sprintf('%d %g %g %g %g', at(k, i), rung(k, i) / best, us(k, i, 'first_us') / best, \
            us(k, i, 'far_us') / best, us(k, i, 'second_us') / best)
    }
    print ''
}
unset print
set ylabel 'winner: times as fast as'
set yrange [0.95:*]
set xrange [0:at(4, n) + 1]
set xtics () scale 0 font ',12'
do for [k = 1:4] { do for [i = 1:n] { set xtics add (word(said, i) at(k, i)) } }
set xtics rotate by 90 right offset 0, 0.2
set grid noxtics
set bmargin at screen 0.34
set object 1 rectangle from graph 0, first 1.07 to graph 1, first 1.14 behind fillcolor rgb FAINT fillstyle solid noborder
do for [k = 1:4] {
    set label k sprintf("D = %d%s", k > 2 ? 128 : 64, k % 2 ? '' : "\ncausal") at (at(k, 1) + at(k, n)) / 2.0, screen 0.2 \
        center font ',12' textcolor rgb INK
}
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.2 width 0
plot 1 with lines ls LIMIT notitle, \
     $all using 1:2 with linespoints ls 1 title 'registers kernel', \
     $all using 1:3 with linespoints ls 2 title 'tile of step 22', \
     $all using 1:4 with linespoints ls 4 title 'slowest winner', \
     $all using 1:5 with linespoints ls 3 title 'next best'
