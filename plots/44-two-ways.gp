# alt: Time of each kind of operation in a decode step of the 2.8B shape, alone with a warm and with a cold L2, and as what the decode step saves without it, with a cold L2. The two with a cold L2 agree within an eighth for all kinds but the smallest; alone and warm, attention is shorter. The last line compares the sums with the whole decode step.
# data: step-44.tsv
load 'plots/style.gp'
kinds = 'products attention norms adds gelus rest'
said = "'products' 'attention' 'norms' 'adds' 'GELUs' 'the rest' 'all'"
t(variant, l2) = real(cell('step-44.tsv', 'clock=graph case=pythia variant=' . variant . ' l2=' . l2, 'median_us'))
whole = t('whole', 'cold')
sum = 0.0
cold = 0.0
without = 0.0
set print $all
do for [k = 1:6] {
    alone = t(word(kinds, k), 'warm')
    left = t(word(kinds, k), 'cold')
    saved = whole - t('no-' . word(kinds, k), 'cold')
    print sprintf('%d %g %g %g', k, alone, left, saved)
    sum = sum + alone
    cold = cold + left
    without = without + saved
}
print sprintf('7 %g %g %g', sum, cold, without)
unset print
set print $whole
print sprintf('%g 6.6', whole)
print sprintf('%g 7.4', whole)
unset print
set xlabel 'time in a decode step, µs'
set logscale x
set xrange [5:5000]
set yrange [7.6:0.4]
set ytics ()
do for [k = 1:7] { set ytics add (word(said, k) k) }
set lmargin 10
set bmargin 5.6
set key at screen 0.5, 0.02 center bottom vertical maxrows 2 samplen 1.2 width 1
plot $all using 2:($1 - 0.15) with points ls 1 ps 1 title 'alone, warm L2', \
     $all using 3:1 with points ls 3 ps 1 title 'alone, cold L2', \
     $all using 4:($1 + 0.15) with points ls 2 ps 1 title 'saved, cold L2', \
     $whole using 1:2 with lines ls LIMIT title 'whole, cold L2'
