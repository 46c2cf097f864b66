# alt: Time of RoPE op by op and attention over that of four remedies, at D = 128, against the length S on a logarithmic axis, two panels: forward and backward. Forward, fused begins above the dashed line at 1 and falls below it between 8192 and 16,384. Dispatch by length comes down to the line and stays on it. K once lies above the line at every length, highest at 512, and comes down to it at 131,072; over PyTorch's eager RoPE and FlashAttention-2 it stays well above. Backward, fused falls below the line at long lengths, and K once comes down to it.
# data: step-32.tsv step-36.tsv step-37.tsv peers-long.tsv
load 'plots/style.gp'
# A remedy: its step and its variants, of which the fastest at each length is drawn. Dispatch is the faster of its
# two ways, since its table has both at these lengths. The gradient has only the first and the last remedy. The
# remedies of steps 33 to 35 are near fused, and left out.
remedies = 3
step = '32 36 37'
array tried[remedies] = ['fused', 'way:fused way:op-by-op', 'rotate-k-once']
said = "'fused' 'by length' 'K once'"
style = '8 3 1'
has(pass) = pass eq 'forward' ? '1 2 3' : '1 3'
peer = 'eager-flash-attention-2'
lengths = '512 1024 2048 4096 8192 16384 32768 65536 131072'
at(pass, S) = sprintf('case=%s-D128-S%s l2=warm clock=graph ', pass, S)
got(i, variant, pass, S, col) = real(cell(sprintf('step-%s.tsv', word(step, i)), at(pass, S) . 'variant=' . variant, col))
best(i, pass, S) = (most = 0, sum [k = 1:words(tried[i])] \
    (r = got(i, word(tried[i], k), pass, S, 'ratio'), most = r > most ? r : most, 0), most)
theirs(pass, S) = real(cell('peers-long.tsv', at(pass, S) . 'step=37 variant=' . peer, 'median_us')) / \
    got(remedies, tried[remedies], pass, S, 'median_us')
passes = 'forward backward'
set print $all
do for [pass in passes] {
    do for [i in has(pass) . ' 4'] {
        do for [S in lengths] {
            print S, i > remedies ? theirs(pass, S) : best(int(i), pass, S)
        }
        print ''
        print ''
    }
}
unset print
block(p, n) = (p == 1 ? 0 : remedies + 1) + n - 1 # the n-th of a pass
set logscale x 2
set logscale y
set xrange [360:185000]
set xtics ('512' 512, '4k' 4096, '32k' 32768)
set label 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT
set label 98 'time of op by op / this' at screen 0.03, 0.6 center rotate by 90 font ',13' textcolor rgb INK
set label 97 'S' at screen 0.56, 0.235 center font ',13' textcolor rgb INK
set key at screen 0.55, 0.005 bottom center maxrows 3 samplen 2.2 width 0
stats $all using 2 nooutput
set yrange [0.85 * STATS_min:1.25 * STATS_max]
set ytics (0.25, 0.5, 1, 2, 4, 8, 16)
set tmargin at screen 0.87
set bmargin at screen 0.345
set multiplot
unset title
do for [p = 1:2] {
    set lmargin at screen 0.135 + 0.435 * (p - 1)
    set rmargin at screen 0.135 + 0.435 * p - 0.025
    if (p == 2) { set format y '' }
    tried_of = has(word(passes, p))
    set label 1 word(passes, p) at graph 0.5, 1.06 center font ',12' textcolor rgb INK
    plot 1 with lines ls LIMIT notitle, \
         for [n = 1:words(tried_of)] $all index block(p, n) using 1:2 with linespoints ls int(word(style, int(word(tried_of, n)))) ps 0.55 notitle, \
         $all index block(p, words(tried_of) + 1) using 1:2 with linespoints ls 2 ps 0.5 notitle, \
         for [i = 1:remedies] keyentry with linespoints ls int(word(style, i)) title word(said, i), \
         keyentry with linespoints ls 2 title 'K once, of PyTorch', \
         keyentry with lines ls LIMIT title 'op by op'
    do for [i = 97:99] { unset label i }
    unset key
}
unset multiplot
