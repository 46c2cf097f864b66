# alt: By how many cycles per tile each part of a warp's time changes at S = 8192, in two panels, for D = 64 and D = 128. Left, from the threads kernel to the TMA kernel: instructions fall by the same in both, the wait at __syncthreads rises, more at D = 64, and the waits for memory and for shared units fall; that for fixed latencies falls at D = 128 only. Right, from the TMA kernel to the apart kernel: the wait at __syncthreads falls and the wait at mbarriers rises, at D = 64 by as much; the wait for shared units falls most, at both widths.
# data: step-28-profile.tsv
tall = 380
load 'plots/style.gp'
f = 'step-28-profile.tsv'
# Warps' tiles: tiles of queries and keys of all heads, times the warps of a block.
tiles(D) = D == 64 ? 4. * 176128 : 8. * 131072
columns = 'stall_barrier stall_memory'
array label[6] = ['instructions', '__syncthreads', 'memory, mbarriers', 'shared units', 'fixed latency', 'other']
of(D, v, c) = real(cell(f, sprintf('case=D%d-S8192 kernel=all variant=%s', D, v), c))
units(D, v) = of(D, v, 'stall_shared') + of(D, v, 'stall_queue') + of(D, v, 'stall_math')
other(D, v) = of(D, v, 'stall_dispatch') + of(D, v, 'stall_ready') + of(D, v, 'stall_fetch')
each(D, v, i) = of(D, v, 'instructions') / tiles(D) \
    * (i == 1 ? 1 : i == 4 ? units(D, v) : i == 5 ? of(D, v, 'stall_fixed') : i == 6 ? other(D, v) : of(D, v, word(columns, i - 1)))
unset title
set label 99 device at screen 0.5, 0.97 center font ',12' textcolor rgb SOFT
array was[12]
array now[12]
array apart[12]
do for [d = 0:1] {
    D = d ? 128 : 64
    do for [i = 1:6] {
        was[d * 6 + i] = each(D, 'threads', i)
        now[d * 6 + i] = each(D, 'tma', i)
        apart[d * 6 + i] = each(D, 'tma-apart-2', i)
    }
}
set multiplot layout 1, 2 margins 0.345, 0.975, 0.21, 0.87 spacing 0.05
set yrange [6.6:0.4]
set xrange [-330:310]
set xtics (-150, 0, 150) font ',12'
unset ytics
set border 1
unset grid
set label 98 'change in cycles of a warp per tile' at screen 0.64, 0.115 center font ',13' textcolor rgb INK
set key at screen 0.64, 0.02 bottom center maxrows 1 samplen 1 width 0
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb SOFT
do for [i = 1:6] { set label i label[i] at graph -0.03, first i right font ',12' textcolor rgb INK noenhanced }
do for [p = 0:1] {
    if (p) { do for [i = 1:6] { unset label i }; unset label 99; unset label 98; unset key }
    set label 20 (p ? 'TMA → apart' : 'threads → TMA') at graph 0.5, 1.04 center font ',12' textcolor rgb INK
    dif(k) = p ? apart[k] - now[k] : now[k] - was[k]
    do for [d = 0:1] { do for [i = 1:6] {
        y = i + (d ? 0.02 : -0.34)
        k = d * 6 + i
        set object 100 + k rectangle from 0, y to dif(k), y + 0.32 fc rgb (d ? '#c2480a' : GOOD) fs solid noborder
        if (dif(k) < -0.5) { set label 100 + k sprintf('%.0f', dif(k)) at dif(k) - 6, y + 0.16 right font ',12' textcolor rgb INK }
        if (dif(k) >= -0.5) { set label 100 + k sprintf('+%.0f', abs(dif(k))) at dif(k) + 6, y + 0.16 left font ',12' textcolor rgb INK }
    } }
    plot NaN notitle, keyentry with boxes lc rgb GOOD title 'D = 64', keyentry with boxes lc rgb '#c2480a' title 'D = 128'
}
unset multiplot
