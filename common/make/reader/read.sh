#!/bin/sh
# read.sh STEP PROGRAM: what `make step-NN run` prints behind the program's own output: where to read of the step, and
# what to type next.
. common/make/reader/exercises.sh
step=$1 program=$2
chapter=$(grep -ls "{\.step step=\"*$step" chapters/[0-9]*.md | head -n 1)
echo
[ -z "$chapter" ] || echo "read: $(place_of "$step" "$chapter")"
predict=
# The first line of --questions names the columns.
if [ "$("$program" --questions 2>/dev/null | wc -l)" -gt 1 ] && ! grep -qs "^$step	" work/predictions.tsv; then
    predict="make step-$step predict, "
fi
exercise=
[ "$(tasks_of "$step")" = 0 ] || exercise="; make step-$step exercise"
echo "next: ${predict}make step-$step count, make step-$step check$exercise"
