#!/bin/sh
# cost.sh STEP PROGRAM [ARGUMENTS]: does a program that counts do more than the step's own solution did when
# its counts were recorded? Of the arguments it uses the cases and variants, and only cases with recorded
# counts. Exit 0: no; 1: yes, one line each (cost.awk); 3: there is nothing to compare with; 4: the program
# failed. COST_ROWS in the environment: a file that the program's counts are left in. Where blocks are recorded
# (plots/data/cpu/STEP-blocks.tsv) those of the program's launches may not be fewer on a multiprocessor (blocks.awk).
step=$1 program=$2
shift 2
recorded=plots/data/cpu/$step-counts.tsv
[ -f "$recorded" ] || exit 3

work=$(mktemp -d "${TMPDIR:-/tmp}/cost.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

counted() {
    case $1 in
    *=*) true ;; # a field: the program itself leaves out what is large
    *) awk -F '\t' -v "name=$1" '$3 == name { found = 1 } END { exit !found }' "$recorded" ;;
    esac
}

# Only --case and --variant matter here.
n=$# cases='' some='' all=1 option=''
while [ "$n" -gt 0 ]; do
    argument=$1
    shift
    n=$((n - 1))
    case $option$argument in
    --case | --variant | --seed | --reps | --out | --map | --errors | --dump) option=$argument= ;;
    --case=*)
        option='' cases=1
        counted "${argument#--case=}" || continue
        some=1
        set -- "$@" --case "${argument#--case=}"
        ;;
    --variant=*)
        option='' all=''
        set -- "$@" --variant "${argument#--variant=}"
        ;;
    *) option='' ;;
    esac
done
[ -z "$cases" ] || [ -n "$some" ] || exit 3

"$program" "$@" --seed 1 --out "$work/counts.tsv" >"$work/said" 2>&1
code=$?
if [ $code -ne 0 ]; then
    echo "  counting ended with code $code: $(grep "^$step\|: " "$work/said" | tail -n 1)"
    exit 4
fi
[ -z "$COST_ROWS" ] || cp "$work/counts.tsv" "$COST_ROWS"
awk -v "all=$all" -f common/make/reader/cost.awk "$recorded" "$work/counts.tsv"
code=$?
blocks=plots/data/cpu/$step-blocks.tsv
if [ $code -le 1 ] && [ -f "$blocks" ] &&
    KF_CAPTURE=1 "$program" "$@" --seed 1 --blocks "$work/blocks.tsv" >"$work/said" 2>&1; then
    awk -f common/make/reader/blocks.awk "$blocks" "$work/blocks.tsv" || code=1
fi
exit $code
