#!/bin/sh
# hint.sh STEP [NAME]: the hints of an exercise so far, and one more: of the first that is still blank; if none is, of
# the first that has a hint left; or of the one that is called NAME. How many have been shown is in work/hints.tsv.
. common/make/reader/exercises.sh
step=$1 asked=$2
shown=work/hints.tsv
mkdir -p work
tab=$(printf '\t')
work=$(mktemp -d "${TMPDIR:-/tmp}/hint.XXXXXX")
trap 'rm -rf "$work" "$shown.$$"' EXIT
hints_of "$step" >"$work/all"
[ -s "$work/all" ] || { echo "step-$step has no exercise, so there is no hint"; exit 0; }
touch "$shown"
places_of "$step" >"$work/places"
# PLACE, how many have been shown, NAME, task, hints.
chosen=$(awk -F '\t' -v OFS='\t' -v "step=$step" -v "asked=$asked" '
    FILENAME == ARGV[1] { if ($1 == step) seen[$2] = $3; next }
    FILENAME == ARGV[2] { place[$2] = $1; blank[$2] = $3 == "blank"; next }
    {
        names = names (names == "" ? "" : ", ") $1
        score = asked != "" ? $1 == asked : blank[$2] ? 3 : 1 + (seen[$1] + 0 < NF - 2)
        if (score > most) {
            best = $1
            most = score
            line = $0
            at = ($2 in place) ? place[$2] : "-"
        }
    }
    END { if (best == "") print "none", names; else print at, seen[best] + 0, line }' "$shown" "$work/places" "$work/all")
case $chosen in
none*)
    echo "hint: \"$asked\" is no exercise of step $step: ARGS=NAME takes one of ${chosen#none"$tab"}" >&2
    exit 2
    ;;
esac
echo "$chosen" | awk -F '\t' '{
    if (NF == 4) { print $4 ": there is no hint"; exit }
    now = $2 < NF - 4 ? $2 + 1 : NF - 4
    printf "%s%s\n", $1 == "-" ? "" : $1 ": ", $4
    for (i = 1; i <= now; i++) printf "  hint %d of %d: %s\n", i, NF - 4, $(4 + i)
    if ($2 >= NF - 4) print "  There is no other. make step-'"$step"' solution FORCE=1 shows the step'"'"'s own lines."
}' | fold -s -w 110
{
    grep -v "^$step$tab$(echo "$chosen" | cut -f 3)$tab" "$shown"
    echo "$chosen" | awk -F '\t' -v OFS='\t' -v "step=$step" '{ print step, $3, $2 < NF - 4 ? $2 + 1 : NF - 4 }'
} | sort >"$shown.$$"
mv "$shown.$$" "$shown"
others=$(cut -f 1 "$work/all" | grep -vx "$(echo "$chosen" | cut -f 3)" | tr '\n' ' ')
[ -z "$others" ] || echo "  Of this step's other exercises, ARGS=NAME gives a hint: $others" | sed 's/ $//'
