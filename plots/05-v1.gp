# alt: Time of separate divided by the time of each version of step 05, against D. V1 wins below D = 64 and takes almost twice as long at 2048. With a padded table, or with neighbouring table entries for neighbouring lanes, it loses little. With four threads a key, both V1 and separate are faster, and V1 is the slower of the two from 512 on.
# data: step-05.tsv
load 'plots/style.gp'
set xlabel 'head dimension D = R'
set ylabel 'time of separate / time of this'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set ytics (0.5, 0.7, 1, 1.5, 2, 3, 4)
set yrange [0.45:14]
set key top left
f = 'step-05.tsv'
w = ' clock=graph l2=warm'
c = 'D R ratio ratio_p5 ratio_p95'
full = " | awk '$1 == $2'"
plot rows(f, 'variant=separate-busy' . w, c) . full using 1:3:4:5 with yerrorlines ls 3 title 'separate, 4 threads a key', \
     rows(f, 'variant=v1-busy' . w, c) . full using 1:3:4:5 with yerrorlines ls 1 title 'V1, 4 threads a key', \
     rows(f, 'variant=v1-by-pair' . w, c) . full using 1:3:4:5 with yerrorlines ls 4 title 'V1, table by pair', \
     rows(f, 'variant=v1-padded' . w, c) . full using 1:3:4:5 with yerrorlines ls 2 title 'V1, table padded', \
     rows(f, 'variant=v1' . w, c) . full using 1:3:4:5 with yerrorlines ls FAILED title 'V1', \
     rows(f, 'variant=separate' . w, c) . full using 1:3 with lines ls LIMIT title 'separate'
