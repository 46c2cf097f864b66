# alt: How many times as fast the faster way is as the chosen one, against the length up to which fused is chosen, D = 128. Two lines: at the worst of the lengths, and on average over all lengths. Both are lowest for a crossover at 8192, and rise faster to its left than to its right. A dashed upright line marks the log's crossover of 4096, others that of the tuner's table of each device that has one.
# data: step-36.tsv tuned-dispatch.tsv
load 'plots/style.gp'
NEVER = 200
both = rows('step-36.tsv', 'clock=graph l2=warm D=128', 'Sk variant median_us')
# For each crossover: the speed of the faster way over the chosen one, at the worst length and on average.
losses = both . sprintf(' | awk ''$2 ~ /^way:/ { us[$1, $2 ~ /fused/] = $3; if (!seen[$1]++) S[++n] = $1 } \
    END { \
        for (c = 0; c <= n; c++) { \
            worst = sum = 0; \
            for (i = 1; i <= n; i++) { \
                a = us[S[i], 1]; b = us[S[i], 0]; \
                lost = (S[i] + 0 <= (c ? S[c] : 0) + 0 ? a : b) / (a < b ? a : b) - 1; \
                sum += lost; \
                if (lost > worst) worst = lost \
            } \
            print c ? S[c] : %d, 1 + worst, 1 + sum / n \
        } \
    }'' | sort -n', NEVER)
# The greatest length that a device's table fuses.
tables = system("cd '" . datadir . "/..' && ls -d */tuned-dispatch.tsv | tr '\\n' ' '")
short(t) = system("echo '" . t . "' | awk -F'[-/]' '{ print toupper($2) }'") # H200 of nvidia-h200/...
crossover(t) = real(system(sprintf("awk -F'\\t' '!/^#/ && $3 == 128 && $7 == \"way:fused\" && $2 + 0 > most { most = $2 } END { print most ? most : %d }' '%s/../%s'", NEVER, datadir, t)))
set logscale x 2
set xrange [150:170000]
set xtics ('never' NEVER, '512' 512, '2k' 2048, '8k' 8192, '32k' 32768, '128k' 131072)
set xlabel 'fused up to S'
set ylabel 'faster way over the chosen one'
set logscale y
set yrange [0.97:4]
set ytics (1, 1.1, 1.25, 1.5, 2, 3)
set key at screen 0.55, 0.01 bottom center maxrows 1 samplen 2.2 width 0
set bmargin at screen 0.24
set arrow 1 from 4096, graph 0 to 4096, graph 1 nohead lc rgb INK dt (5, 4) lw 1
set label 1 'the log' at 4096, graph 0.95 right offset -0.5, 0 font ',12' textcolor rgb INK
do for [i = 1:words(tables)] { # each line ends below its name, for names are wider than what is between lines
    t = word(tables, i)
    set arrow 1 + i from crossover(t), graph 0 to crossover(t), graph 0.9 - 0.12 * i nohead lc rgb SOFT dt (2, 3) lw 1
    set label 1 + i short(t) at crossover(t), graph 0.95 - 0.12 * i center font ',12' textcolor rgb SOFT
}
plot losses using 1:2 with linespoints ls 2 title 'at the worst length', \
     losses using 1:3 with linespoints ls 1 title 'on average'
