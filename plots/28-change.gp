# alt: By how many cycles per tile each part of a warp's time changes at S = 8192, in two panels, for D = 64 and D = 128. Left, from the threads kernel to the TMA kernel: instructions fall by the same in both, the wait at __syncthreads rises, more at D = 64, and most other waits fall, more at D = 128. Right, from the TMA kernel to the apart kernel: that wait falls and the wait at mbarriers rises, at D = 64 by as much; at D = 64 the two waits for shared memory or exponentials fall, at D = 128 that for the tensor cores.
# data: step-28-profile.tsv
tall = 430
load 'plots/style.gp'
f = 'step-28-profile.tsv'
# Warps' tiles: tiles of queries and keys of all heads, times the warps of a block.
tiles(D) = D == 64 ? 4. * 176128 : 8. * 131072
columns = 'stall_barrier stall_memory stall_shared stall_queue stall_math stall_fixed'
array label[8] = ['instructions', '__syncthreads', 'memory, mbarriers', 'shared/exp, result', 'shared/exp, queue', 'tensor cores', 'fixed latency', 'other']
of(D, v, c) = real(cell(f, sprintf('case=D%d-S8192 kernel=all variant=%s', D, v), c))
other(D, v) = of(D, v, 'stall_dispatch') + of(D, v, 'stall_ready') + of(D, v, 'stall_fetch')
each(D, v, i) = of(D, v, 'instructions') / tiles(D) \
    * (i == 1 ? 1 : i == 8 ? other(D, v) : of(D, v, word(columns, i - 1)))
unset title
set label 99 device at screen 0.5, 0.97 center font ',12' textcolor rgb SOFT
array was[16]
array now[16]
array apart[16]
do for [d = 0:1] {
    D = d ? 128 : 64
    do for [i = 1:8] {
        was[d * 8 + i] = each(D, 'threads', i)
        now[d * 8 + i] = each(D, 'tma', i)
        apart[d * 8 + i] = each(D, 'tma-apart-2', i)
    }
}
set multiplot layout 1, 2 margins 0.345, 0.975, 0.21, 0.87 spacing 0.05
set yrange [8.6:0.4]
set xrange [-290:310]
set xtics (-150, 0, 150) font ',12'
unset ytics
set border 1
unset grid
set label 98 'change in cycles of a warp per tile' at screen 0.64, 0.115 center font ',13' textcolor rgb INK
set key at screen 0.64, 0.02 bottom center maxrows 1 samplen 1 width 0
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb SOFT
do for [i = 1:8] { set label i label[i] at graph -0.03, first i right font ',12' textcolor rgb INK noenhanced }
do for [p = 0:1] {
    if (p) { do for [i = 1:8] { unset label i }; unset label 99; unset label 98; unset key }
    set label 20 (p ? 'TMA → apart' : 'threads → TMA') at graph 0.5, 1.04 center font ',12' textcolor rgb INK
    dif(k) = p ? apart[k] - now[k] : now[k] - was[k]
    do for [d = 0:1] { do for [i = 1:8] {
        y = i + (d ? 0.02 : -0.34)
        k = d * 8 + i
        set object 100 + k rectangle from 0, y to dif(k), y + 0.32 fc rgb (d ? '#c2480a' : GOOD) fs solid noborder
        if (dif(k) < -0.5) { set label 100 + k sprintf('%.0f', dif(k)) at dif(k) - 6, y + 0.16 right font ',12' textcolor rgb INK }
        if (dif(k) >= -0.5) { set label 100 + k sprintf('+%.0f', abs(dif(k))) at dif(k) + 6, y + 0.16 left font ',12' textcolor rgb INK }
    } }
    plot NaN notitle, keyentry with boxes lc rgb GOOD title 'D = 64', keyentry with boxes lc rgb '#c2480a' title 'D = 128'
}
unset multiplot
