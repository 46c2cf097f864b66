#!/bin/sh
# solution.sh STEP MAKE COUNT [FORCE]: the reader's exercise against the step's own lines, and what each costs; once
# it is right, or with FORCE. COUNT is the program that counts the reader's, and MAKE makes it.
. common/make/reader/exercises.sh
step=$1 make=$2 count=$3 force=$4
state=$(sh common/make/reader/states.sh "$step" | cut -f 9)
work=$(mktemp -d "${TMPDIR:-/tmp}/solution.XXXXXX")
trap 'rm -rf "$work"' EXIT
case $state:$force in
'':*)
    echo "step-$step has no exercise, so there is no solution"
    exit 0
    ;;
right:* | dear:* | *:?*) ;;
*)
    [ "$state" != not-begun ] || state="not begun"
    echo "step-$step: $state, so its solution is not shown yet: make step-$step hint helps, FORCE=1 shows it" >&2
    exit 1
    ;;
esac
for source in $(sources_with_tasks "$step"); do
    copy=$(copy_of "$step" "$source")
    [ -f "$copy" ] || fresh "$source" >"$work/fresh"
    awk -v mode=strip -f common/make/reader/markers.awk "$source" >"$work/own"
    [ -f "$copy" ] && yours=$copy || yours=$work/fresh
    diff -u "$yours" "$work/own" | sed "1s|.*|--- $copy: yours|; 2s|.*|+++ $source: the step's own|"
    cmp -s "$yours" "$work/own" && echo "$copy: as the step's own, line by line"
done
[ -f "$(work_of "$step")" ] && "$make" -s "$count" BACKEND=cpu || exit 0
echo
recorded=plots/data/cpu/step-$step-counts.tsv
COST_ROWS=$work/counts sh common/make/reader/cost.sh "step-$step" "$count" >"$work/cost"
if [ ! -f "$work/counts" ]; then
    cat "$work/cost"
    exit 0
fi
awk -v mode=table -f common/make/reader/beside.awk "$recorded" "$work/counts" >"$work/beside"
if [ -s "$work/beside" ]; then
    echo "What they cost, where it differs (the counted variants and cases, added up):"
    sed 's/^/  /' "$work/beside"
else
    echo "What they cost is the same in every count."
fi
