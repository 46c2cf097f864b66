#!/bin/sh
# list.sh [--json]: `make list`: every exercise and its state, parts and predictions added up. --json: the same for
# whoever collects the answers of a class: a line for each exercise, with what its last try ran on.
. common/make/reader/exercises.sh
case $*:$# in
:0) mode=text ;;
--json:1) mode=json ;;
*)
    echo "list: \"$*\" is no option of it: make list, or make list ARGS=--json" >&2
    exit 2
    ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/list.XXXXXX")
trap 'rm -rf "$work"' EXIT
sh common/make/reader/states.sh >"$work/states"
cut -f 1,9 "$work/states" | while IFS="$(printf '\t')" read -r step state; do
    hints_of "$step" | awk -F '\t' -v OFS='\t' -v "step=$step" '{ print step, $1, $2 }'
    [ $mode = text ] || printf '%s\tchanged\t%s\n' "$step" "$(changed_of "$step")"
    [ "$state" != begun ] && [ "$state" != wrong ] ||
        blanks_of "$step" | awk -v OFS='\t' -v "step=$step" '{ print step, "blank", $0 }'
done >"$work/tasks"
touch "$work/predictions"
[ ! -f work/predictions.tsv ] || grep -v '^#' work/predictions.tsv >"$work/predictions"
awk -F '\t' -v "mode=$mode" -v "date=$(now)" -v "commit=$(sh common/make/gpu/commit.sh)" \
    -f common/make/reader/list.awk "$work/states" "$work/tasks" "$work/predictions"
