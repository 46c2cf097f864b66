#!/bin/sh
# next.sh [FROM]: `make next`: the first exercise, in the book's order, that is neither right nor skipped; from step
# FROM on, if that is given ("21"). Writes the exercise if it is not there, and says where it is, what it asks, and
# what to type. When there is none left it prints the last page.
# next.sh --step [FROM]: only that step's number; nothing if there is none.
. common/make/reader/exercises.sh
only=
[ "$1" != --step ] || { only=1; shift; }
from=${1#step-}
tab=$(printf '\t')
work=$(mktemp -d "${TMPDIR:-/tmp}/next.XXXXXX")
trap 'rm -rf "$work"' EXIT
sh common/make/reader/states.sh >"$work/states"
if [ -n "$from" ]; then
    case $from in [0-9]) from=0$from ;; esac
    grep -q "^$from$tab" "$work/states" || {
        echo "next: FROM=$1: no step with an exercise has that number; make list shows them" >&2
        exit 2
    }
fi
awk -F '\t' -v "from=$from" '$1 == from { from = "" } from == "" && $9 != "right" && $9 != "skipped" { print; exit }' \
    "$work/states" >"$work/next"
if [ -n "$only" ]; then
    cut -f 1 "$work/next"
    exit
fi
if [ ! -s "$work/next" ]; then
    sh common/make/reader/end.sh "$work/states"
    exit
fi
IFS=$tab read -r step slug part chapter title section tasks _ state since _ tries rest <"$work/next"
yours=$(work_of "$step")
[ -f "$yours" ] || sh common/make/reader/exercise.sh "$(source_of "$step")" "$yours" '' >"$work/written"

# The blanks, and where they are.
blanks_of "$step" >"$work/blanks"
before=$(awk -F '\t' -v "step=$step" '$1 == step { exit } { sum += $7 } END { print sum + 0 }' "$work/states")
total=$(awk -F '\t' '{ sum += $7 } END { print sum }' "$work/states")
right=$(awk -F '\t' '$9 == "right" { sum += $7 } END { print sum + 0 }' "$work/states")
if [ "$tasks" = 1 ]; then
    echo "Exercise $((before + 1)) of $total, step $step, $slug; $right are right"
else
    echo "Exercises $((before + 1)) to $((before + tasks)) of $total, step $step, $slug; $right are right"
fi
[ "$part" = - ] || echo "Part $part"
echo
sed "s/^\([^$tab]*\)$tab/  to fill in  \1: /" "$work/blanks"
[ -s "$work/blanks" ] || echo "  yours       $yours: nothing is blank"
case $state in
wrong)
    note=$(echo "$rest" | cut -f 6)
    echo "  so far      wrong since $since, tries: $tries$([ "$note" = - ] || echo ", $note")"
    ;;
dear)
    echo "  so far      right, but dearer than the task allows: $(echo "$rest" | cut -f 6 | sed 's/^costs more: //')"
    echo "              (make step-$step solution shows every count beside the step's own)"
    ;;
esac
if [ "$chapter" != - ]; then
    echo "  read        chapter $(basename "$chapter" | sed 's/^0*\([0-9]*\)-.*/\1/'), $title: $section"
    echo "              $(place_of "$step" "$chapter")"
fi
echo "  predict     make step-$step predict      (when you have read as far as \"Predict first\")"
echo "  try         make step-$step try          (make step-$step watch: at every save)"
# Cases that the chapter tries first, as all of them may take minutes.
[ "$chapter" = - ] || grep -o "make step-$step try ARGS=\"[^\"]*\"" "$chapter" | sed 's/^/  at first    /'
echo "  stuck       make step-$step hint         (make step-$step skip leaves it out)"
