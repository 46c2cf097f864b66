#!/bin/sh
# record.sh STEP STATE [SEED DEVICE COST COUNTS NOTE DIGEST]: writes into work/progress.tsv, a line a step, what `try` said of
# the reader's files as they are, or that the step is skipped. A missing value is "-". An older line of the step
# goes; SINCE stays as long as the state does.
. common/make/reader/exercises.sh
step=$1 state=$2
mkdir -p work
trap 'rm -f "$PROGRESS.$$"' EXIT
tab=$(printf '\t')
{
    echo "# What the last try of each step said: read by make list. It may be copied, and committed."
    echo "# step${tab}state${tab}since${tab}tried${tab}tries${tab}digest${tab}seed${tab}device${tab}commit${tab}cost${tab}counts${tab}note"
    {
        [ ! -f "$PROGRESS" ] || grep -v '^#' "$PROGRESS"
        printf '+%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$step" "$state" "$(now)" "${8:-$(digest_of "$step")}" "${3:--}" \
            "${4:--}" "$(sh common/make/gpu/commit.sh)" "${5:--}" "${6:--}" "${7:--}"
    } | awk -F '\t' -v OFS='\t' '
        !/^\+/ { line[$1] = $0; next }
        {
            step = substr($1, 2)
            split(line[step], old, FS)
            since = old[2] == $2 ? old[3] : $3
            tries = old[5] + ($2 != "skipped")
            line[step] = step OFS $2 OFS since OFS $3 OFS tries OFS $4 OFS $5 OFS $6 OFS $7 OFS $8 OFS $9 OFS $10
        }
        END { for (step in line) print line[step] }' | sort
} >"$PROGRESS.$$"
mv "$PROGRESS.$$" "$PROGRESS"
