# alt: The same waterfall at D = 128. Here the waits and the launches are the long steps, and splitting D loses what it saves to a second launch.
# data: step-14.tsv
D = 128
load 'plots/14-waterfall.gp'
