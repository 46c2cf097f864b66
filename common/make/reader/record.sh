#!/bin/sh
# record.sh STEP STATE [SEED DEVICE COST COUNTS NOTE DIGEST]: writes into work/progress.tsv, a line a step, what
# `try` said of the reader's files, or that the step is skipped. A missing value is "-", a missing DIGEST that of the
# files now. An older line of the step goes; SINCE stays as long as the state does.
. common/make/reader/exercises.sh
step=$1 state=$2
mkdir -p work
touch "$PROGRESS"
trap 'rm -f "$PROGRESS.$$"' EXIT
old=$(awk -F '\t' -v "step=$step" '$1 == step' "$PROGRESS")
date=$(now)
since=$date tries=$(echo "$old" | cut -f 5)
[ "$(echo "$old" | cut -f 2)" != "$state" ] || since=$(echo "$old" | cut -f 3)
[ "$state" = skipped ] || tries=$((${tries:-0} + 1))
{
    echo "# What the last try of each step said: read by make list. It may be copied, and committed."
    echo "#step state since tried tries digest seed device commit cost counts note" | tr ' ' '\t'
    {
        awk -F '\t' -v "step=$step" '!/^#/ && $1 != step' "$PROGRESS"
        printf '%s\t' "$step" "$state" "$since" "$date" "${tries:-0}" "${8:-$(digest_of "$step")}" "${3:--}" \
            "${4:--}" "$(sh common/make/gpu/commit.sh)" "${5:--}" "${6:--}"
        echo "${7:--}"
    } | sort
} >"$PROGRESS.$$"
mv "$PROGRESS.$$" "$PROGRESS"
