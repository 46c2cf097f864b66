#!/bin/sh
# diff.sh SOURCE DIR: the unified diff from the step that SOURCE grew from, marker lines left out.
# DIR is where the two sides are written.
set -e
source=$1 dir=$2

name=$(basename "$(dirname "$source")")
parent=$(sed -n 's/^ \* Grows from: *\([^ ,.;]*\).*/\1/p' "$source" | head -n 1)
case $parent in
"")
    echo "$source: its header has no line \" * Grows from: NN-slug\" (or \"nothing\")" >&2
    exit 2
    ;;
nothing)
    echo "$name grows from nothing: there is no earlier step to compare it with"
    exit 0
    ;;
esac
before=steps/$parent/${parent#*-}.cu
if [ ! -f "$before" ]; then
    echo "$source: it says that it grows from $parent, and there is no $before" >&2
    exit 2
fi
mkdir -p "$dir"
awk -v mode=strip -f common/make/reader/markers.awk "$before" >"$dir/before"
awk -v mode=strip -f common/make/reader/markers.awk "$source" >"$dir/after"
# diff answers 1 when the files differ, which is what is wanted here.
diff -u -L "$before" -L "$source" "$dir/before" "$dir/after" || [ $? -eq 1 ]
