#!/bin/sh
# end.sh STATES: the last page of `make next`: STATES are the lines of states.sh.
total=$(awk -F '\t' '{ sum += $7 } END { print sum }' "$1")
right=$(awk -F '\t' '$9 == "right" { sum += $7 } END { print sum + 0 }' "$1")
skipped=$(awk -F '\t' '$9 == "skipped" { printf " step-%s", $1 }' "$1")
tries=$(awk -F '\t' '{ sum += $12 } END { print sum + 0 }' "$1")
cat <<END
$right of $total exercises are right, after $tries tries.${skipped:+ Skipped:$skipped.}
$(sh common/make/reader/list.sh | tail -n 1)

What you have done: you have written attention from its definition to Hopper's tensor cores, moved RoPE into it and
out again, and seen which fusion pays and which does not. You have met each failure of these kernels at least once:
a reduction that reaches one warp, a race that no test sees, a wait that is missing, a bank conflict, a store beyond
the end, a kernel that is never called.

What to keep is the rule of chapter 24, "When does it pay to fuse?" Fuse if
    launches that go x time of a launch + bytes that go / their rate  is more than  m x work / rate of its unit,
where m is the number of blocks that need the same element. Both sides can be written down before any code is,
and `make rule` works them out.

Where to go from here
    make list                       all exercises;  make step-NN solution: yours beside the step's own
    make new-step FROM=13 AS=46-mine   a step of your own, with its harness, counts and chart
    common/cpu/cudacc --check your.cu -o your    your own kernels, checked as these were;  --count: counted
    make step-NN run                on a GPU, if you had none: the predictions there are still open
    chapters/25-another-device.md   what changes on a GPU that is not this book's
END
