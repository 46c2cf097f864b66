#!/bin/sh
# diff.sh SOURCE DIR [--all]: how much of SOURCE is new against the step that it grew from: of all its lines,
# and of its story, the lines between the header and the variants that explain. Then the unified diff of the
# stories without marker lines, or with --all of the whole files. The two sides are written to DIR.
# A step may be a ladder: a-NAME.cuh, b-NAME.cuh and so on beside SOURCE are its rungs, each a whole kernel.
# The first rung is also compared with the earlier step, and each other rung with the one before it.
set -e
source=$1 dir=$2 all=$3

# compare NAME BEFORE-NAME BEFORE AFTER
compare() {
    awk -v mode=strip -f common/make/reader/markers.awk "$3" >"$dir/before"
    awk -v mode=strip -f common/make/reader/markers.awk "$4" >"$dir/after"
    # diff exits with 1 if the files differ, which is no error here.
    diff -u -L "$3" -L "$4" "$dir/before" "$dir/after" >"$dir/diff" || [ $? -eq 1 ]
    awk -v name="$1" -v parent="$2" '
        FILENAME == ARGV[1] {
            if (/^@@ /) {
                split($3, at, ",")
                line = at[1] + 0
            } else if (line && /^\+/)
                new[line++] = 1
            else if (line && !/^-/)
                line++
            next
        }
        FNR == 1 && /^\/\*/ { header = 1 }
        /^\/\/ --- (Variants that explain|Tables)( |$)/ { told = 1 }
        {
            lines++
            changed += new[FNR]
            if (!header && !told) {
                story++
                story_changed += new[FNR]
            }
        }
        header && /\*\// { header = 0 }
        END {
            printf "%s: %.0f %% of its lines are new against %s (story: %.0f %%)\n", name,
                100 * changed / lines, parent, story ? 100 * story_changed / story : 0
        }' "$dir/diff" "$dir/after"
    if [ "$all" = --all ]; then
        cat "$dir/diff"
        return
    fi
    [ -n "$said" ] ||
        echo "What follows is the story: no header, no variants that explain, no tables. ARGS=--all shows them too."
    said=1
    for side in before after; do
        awk 'FNR == 1 && /^\/\*/ { header = 1 }
            /^\/\/ --- (Variants that explain|Tables)( |$)/ { exit }
            !header
            header && /\*\// { header = 0 }' "$dir/$side" >"$dir/$side.story"
    done
    diff -u -L "$3" -L "$4" "$dir/before.story" "$dir/after.story" || [ $? -eq 1 ]
}

folder=$(dirname "$source")
name=$(basename "$folder")
parent=$(sed -n 's/^ \* Grows from: *\([^ ,.;]*\).*/\1/p' "$source" | head -n 1)
before=steps/$parent/${parent#*-}.cu
said=
mkdir -p "$dir"
case $parent in
"")
    echo "$source: its header has no line \" * Grows from: NN-slug\" (or \"nothing\")" >&2
    exit 2
    ;;
nothing)
    echo "$name grows from nothing: there is no earlier step to compare it with"
    before=
    ;;
*)
    if [ ! -f "$before" ]; then
        echo "$source: it says that it grows from $parent, and there is no $before" >&2
        exit 2
    fi
    compare "$name" "$parent" "$before" "$source"
    ;;
esac
for rung in "$folder"/[a-z]-*.cuh; do
    [ -f "$rung" ] || continue
    file=$(basename "$rung")
    [ -z "$before" ] || compare "$file" "$parent" "$before" "$rung"
    before=$rung parent=$file
done
