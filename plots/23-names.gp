# alt: TFLOP/s of the seventeen candidates of step 23 at S = 8192 without a mask, one row for each, with its name: filled points for D = 64, squares for D = 128. Candidates that were refused have no point. Vertical lines mark step 22's registers kernel for both D. At D = 64 m128-n96-w4-s2 is the fastest, and at D = 128 m256-n64-w8-s2; no candidate with 16 queries per warp is faster than the registers kernel, and most of those with 32 are.
# data: step-23.tsv step-22.tsv
tall = 470
load 'plots/style.gp'
# Sorted by queries per warp, and in each half as in the program.
names_ = 'm64-n64-w4-s2 m64-n64-w4-s1 m64-n32-w4-s3 m64-n128-w4-s1 m64-n128-w4-s2 m128-n64-w8-s2 m128-n128-w8-s2 \
m64-n64-w2-s1 m128-n64-w4-s1 m128-n64-w4-s2 m128-n64-w4-s3 m128-n32-w4-s3 m128-n48-w4-s3 m128-n96-w4-s2 m128-n128-w4-s2 \
m256-n64-w8-s2 m256-n128-w8-s3'
n = words(names_)
of16 = 7
S = 8192
rate(D, us) = 4e-6 * 4 * 8 * S * S * D / us
at(i) = i + (i > of16 ? 1 : 0)
got(D) = rows('step-23.tsv', sprintf('B=4 H=8 Sq=%d Sk=%d D=%d causal=0 clock=graph l2=warm', S, S, D), 'variant median_us') . \
    ' | awk -v names="' . names_ . '" -v of16=' . of16 . ' ''BEGIN { n = split(names, name, " "); \
    for (i = 1; i <= n; i++) at[name[i]] = i + (i > of16) } { print at[$1], $2 }'''
rung(D) = rate(D, real(cell('step-22.tsv', \
    sprintf('variant=e-registers B=4 H=8 Sq=%d Sk=%d D=%d causal=0 clock=graph l2=warm', S, S, D), 'median_us')))
set xlabel 'TFLOP/s, S = 8192'
set xrange [225:375]
set yrange [at(n) + 0.8:-0.6]
set ytics () scale 0 font ',12'
do for [i = 1:n] { set ytics add (word(names_, i) at(i)) }
set lmargin at screen 0.36
set rmargin at screen 0.97
set bmargin at screen 0.2
set label 1 '16 queries per warp' at graph 0.02, first 0.1 left font ',12' textcolor rgb SOFT
set label 2 '32 queries per warp' at graph 0.02, first of16 + 1.1 left font ',12' textcolor rgb SOFT
set key at screen 0.6, 0.005 bottom center maxrows 2 samplen 1.6 width -1
do for [k = 1:2] {
    set arrow k from rung(64 * k), graph 0 to rung(64 * k), graph 1 nohead ls k lw 1.2
}
plot for [k = 1:2] got(64 * k) using (rate(64 * k, $2)):1 with points ls k ps 0.8 notitle, \
     keyentry with points ls 1 ps 0.8 title 'D = 64', \
     keyentry with points ls 2 ps 0.8 title 'D = 128', \
     keyentry with lines ls 1 lw 1.2 title 'registers kernel'
