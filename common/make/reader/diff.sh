#!/bin/sh
# diff.sh SOURCE DIR [--all]: how much of SOURCE is new against the step that it grew from, of all its
# lines and of its story, which is what stands between the header and the variants that explain; then the
# unified diff of the stories, marker lines left out. --all: of all that both files hold. DIR is where the
# two sides are written.
set -e
source=$1 dir=$2 all=$3

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
diff -u -L "$before" -L "$source" "$dir/before" "$dir/after" >"$dir/diff" || [ $? -eq 1 ]
awk -v name="$name" -v parent="$parent" '
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
    exit
fi
echo "What follows is the story: no header, no variants that explain, no tables. ARGS=--all shows them too."
for side in before after; do
    awk 'FNR == 1 && /^\/\*/ { header = 1 }
        /^\/\/ --- (Variants that explain|Tables)( |$)/ { exit }
        !header
        header && /\*\// { header = 0 }' "$dir/$side" >"$dir/$side.story"
done
diff -u -L "$before" -L "$source" "$dir/before.story" "$dir/after.story" || [ $? -eq 1 ]
