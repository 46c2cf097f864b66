#!/bin/sh
# diff.sh SOURCE DIR [--all]: how much of SOURCE is new against an earlier step, of all its lines and of its story,
# which is what stands between the header and the variants that explain; then a unified diff, marker lines left out.
# The header names the earlier step. "Grows from" shares at least half of the story, and the diff is of the stories.
# "Follows" shares less, and the diff is of the kernels and the functions that they call. --all: the diff is of all
# that both files hold. DIR is where the two sides are written.
# A step may be a ladder: a-NAME.cuh, b-NAME.cuh and so on beside SOURCE are its rungs, each a whole kernel.
# The first rung is also compared with the earlier step, and each other rung with the one before it. A rung
# that includes the one before it adds to it, so all of its lines are new. If the ladder follows the earlier
# step, it shares no kernel with it, so there is no diff of these two, unless --all asks for it.
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
    [ -n "$said" ] || echo "$shows ARGS=--all shows the rest too."
    said=1
    [ -z "$ladder" ] || [ "$4" != "$source" ] || return 0
    for side in before after; do
        awk -v kernels="$kernels" 'FNR == 1 && /^\/\*/ { header = 1 }
            /^\/\/ --- (Variants that explain|Tables)( |$)/ { exit }
            header { header = !/\*\//; next }
            !kernels { print; next }
            inside { print; inside = !/^}/; next }
            /^$/ { held = found = "" }
            { held = held $0 "\n"; found = found || /__(global|device)__/ }
            /;$/ { held = found = "" }
            found && /{$/ { printf "\n%s", held; held = found = ""; inside = 1 }' "$dir/$side" >"$dir/$side.story"
    done
    if [ -n "$kernels" ] && [ ! -s "$dir/after.story" ]; then
        echo "$1 defines no kernel: it calls those that its lines with #include name."
        return 0
    fi
    diff -u -L "$3" -L "$4" "$dir/before.story" "$dir/after.story" || [ $? -eq 1 ]
}

folder=$(dirname "$source")
name=$(basename "$folder")
parent=$(sed -En 's/^ \* (Grows from|Follows): *([^ ,.;]*).*/\2/p' "$source" | head -n 1)
kernels=$(sed -n 's/^ \* Follows: .*/1/p' "$source" | head -n 1)
shows="Below is the story: no header, no variants that explain, no tables."
[ -z "$kernels" ] || shows="Little is shared. Below are the kernels and what they call, without those of variants that explain."
ladder=
if [ -n "$kernels" ] && ls "$folder"/[a-z]-*.cuh >/dev/null 2>&1; then
    ladder=1
    shows="Little is shared. Below is each rung against the one before it."
fi
before=steps/$parent/${parent#*-}.cu
said=
mkdir -p "$dir"
case $parent in
"")
    echo "$source: its header has no line \" * Grows from: NN-slug\" (or \"nothing\") or \" * Follows: NN-slug\"" >&2
    exit 2
    ;;
nothing)
    echo "$name grows from nothing: there is no earlier step to compare it with"
    before=
    ;;
*)
    if [ ! -f "$before" ]; then
        echo "$source: it says that it grows from or follows $parent, and there is no $before" >&2
        exit 2
    fi
    compare "$name" "$parent" "$before" "$source"
    [ -z "$ladder" ] || [ "$all" = --all ] || before=
    ;;
esac
for rung in "$folder"/[a-z]-*.cuh; do
    [ -f "$rung" ] || continue
    file=$(basename "$rung")
    ! grep -q "^#include \"$parent\"" "$rung" || before=/dev/null
    [ -z "$before" ] || compare "$file" "$parent" "$before" "$rung"
    before=$rung parent=$file kernels= # a rung shares most with the one before it
done
