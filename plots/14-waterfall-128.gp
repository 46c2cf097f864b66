# alt: The same waterfall at D = 128. Here unstaged, joined and v7 are the long steps, and split takes longer than busy.
# data: step-14.tsv
D = 128
load 'plots/14-waterfall.gp'
