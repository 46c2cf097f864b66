# alt: How many times as fast as cuDNN each kernel of step 29 is at S = 8192, each alone on the device, for D = 64 and 128, with and without a causal mask. Lines: sustained, at the power limit. Crosses of the same colour: cool, before the limit is felt. A dashed line at 1 is cuDNN.
# data: step-29.tsv peers-hopper.tsv
load 'plots/style.gp'
S = 8192
ways = 'a-one-role b-producer c-ping-pong d-overlap e-persistent g-work-tiles'
said = 'one-role producer ping-pong overlap persistent work-tiles'
n = words(ways)
where(variant, D, causal, clock) = sprintf('step=29 variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=%d clock=%s l2=warm', variant, S, S, D, causal, clock)
us(i, D, causal, clock) = real(cell('step-29.tsv', where(word(ways, i), D, causal, clock), 'median_us'))
# The mean of the rival's two times. They are six days older than ours.
rival(D, causal, clock) = 0.5 * (real(cell('peers-hopper.tsv', where('cudnn', D, causal, clock) . ' place=before', 'median_us')) \
    + real(cell('peers-hopper.tsv', where('cudnn', D, causal, clock) . ' place=after', 'median_us')))
array Ds[4] = [128, 64, 128, 64]
clocks = 'sustained cool'
set print $all
do for [c = 1:2] {
    do for [k = 1:4] {
        base = rival(Ds[k], k > 2, word(clocks, c))
        do for [i = 1:n] { print sprintf('%g %g', i + (c - 1) * 0.12, base / us(i, Ds[k], k > 2, word(clocks, c))) }
        print ''
        print ''
    }
}
unset print
set ylabel 'times as fast as cuDNN, S = 8192'
set xrange [0.7:n + 0.4]
set xtics () scale 0 font ',12' rotate by 30 right offset 0, 0.2
do for [i = 1:n] { set xtics add (word(said, i) i) }
set grid noxtics
set bmargin at screen 0.38
set key at screen 0.54, 0.005 bottom center maxrows 2 samplen 2.4 width -1
style(k) = word('1 3 2 5', k) + 0
plot 1 with lines ls LIMIT title 'cuDNN', \
     for [k = 1:4] $all index k - 1 using 1:2 with linespoints ls style(k) \
         title sprintf('%d%s', Ds[k], k > 2 ? ' causal' : ''), \
     for [k = 1:4] $all index k + 3 using 1:2 with points ls style(k) pt 2 notitle, \
     keyentry with points ls 6 pt 2 title 'cool'
