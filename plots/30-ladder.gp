# alt: TFLOP/s of the backward pass at S = 8192, sustained, counted as five products: the four kernels of step 30: red, bulk, producer and late, for D = 64 and 128, with and without a causal mask, one line each. A dashed line is the rate of the tensor cores.
# data: step-30.tsv ceilings.tsv
load 'plots/style.gp'
S = 8192
ways = 'a-red b-bulk c-producer d-late'
said = 'red bulk producer late'
n = words(ways)
where(i, D, causal) = sprintf('variant=%s B=4 H=8 Sq=%d Sk=%d D=%d causal=%d clock=sustained l2=warm', word(ways, i), S, S, D, causal)
t(i, D, causal, col) = real(cell('step-30.tsv', where(i, D, causal), col))
rate(D, causal, us) = 10e-6 * 4 * 8 * S * S * D / (1 + causal) / us
array Ds[4] = [64, 64, 128, 128]
set print $all
do for [k = 1:4] {
    causal = (k + 1) % 2
    do for [i = 1:n] {
        print sprintf('%d %g %g %g', i, rate(Ds[k], causal, t(i, Ds[k], causal, 'median_us')), rate(Ds[k], causal, t(i, Ds[k], causal, 'p95_us')), rate(Ds[k], causal, t(i, Ds[k], causal, 'p5_us')))
    }
    print ''
    print ''
}
unset print
limit = ceiling('tensor_f16_tflops')
set ylabel 'TFLOP/s, S = 8192, sustained'
set yrange [0:limit * 1.08]
set ytics 200
set xrange [0.7:n + 0.3]
set xtics () scale 0
do for [i = 1:n] { set xtics add (word(said, i) i) }
set grid noxtics
set bmargin at screen 0.34
set key at screen 0.54, 0.005 bottom center maxrows 3 samplen 2.2 width 0
plot for [k = 1:4] $all index k - 1 using 1:2:3:4 with yerrorlines ls k title sprintf('D = %d%s', Ds[k], k % 2 ? '' : ', causal'), \
     limit with lines ls LIMIT title 'limit'
