#!/bin/sh
# diff.sh SOURCE DIR [--all]: how much of SOURCE is new against an earlier step, of all its lines and of its story,
# which is what stands between the header and the variants that explain; then a unified diff, marker lines left out.
# The header names the earlier step. "Grows from" shares at least half of the story, and the diff is of the stories.
# "Follows" shares less, and a diff of all lines would drown in them: function is set beside function (functions.awk),
# of the kernels and what they call. Those that both have are compared, also under another name, as a kernel
# attention_v1 and an attention_v2; what is new or gone is named. --all: the diff is of all that both files hold. DIR is
# where the two sides are written.
# A step may be a ladder: a-NAME.cuh, b-NAME.cuh and so on beside SOURCE are its rungs, each a whole kernel.
# The first rung is also compared with the earlier step, and each other rung with the one before it, function by
# function where most of its story is new. A rung that includes the one before it adds to it, so all of its lines are
# new. If the ladder follows the earlier step, it shares no kernel with it, so there is no diff of these two, unless
# --all asks for it.
set -e
source=$1 dir=$2 all=$3
case $all in
"" | --all) ;;
*)
    echo "diff: \"$all\" is no option of it: make step-NN diff, or make step-NN diff ARGS=--all" >&2
    exit 2
    ;;
esac

# story FILE: its lines between the header and the variants that explain, each behind its number in the file.
story() {
    awk -v mode=strip -v numbers=1 -f common/make/reader/markers.awk "$1" |
        awk '{ code = substr($0, index($0, "\t") + 1) }
            FNR == 1 && code ~ /^\/\*/ { header = 1 }
            code ~ /^\/\/ --- (Variants that explain|Tables)( |$)/ { exit }
            header { header = code !~ /\*\//; next }
            { print }'
}

# differ BEFORE-LABEL AFTER-LABEL BEFORE AFTER: a diff of two sides with numbers, which its lines @@ name.
differ() {
    for side in "$3" "$4"; do
        cut -f 2- "$side" >"$side.bare"
    done
    # diff exits with 1 if the files differ, which is no error here.
    diff -u -L "$1" -L "$2" "$3.bare" "$4.bare" >"$dir/part" || [ $? -eq 1 ]
    awk -v before="$3" -v after="$4" '
        function number_of(place,    at) {
            split(substr(place, 2), at, ",")
            return substr(place, 1, 1) (line[FILENAME_OF[substr(place, 1, 1)], at[1]] + 0) (at[2] == "" ? "" : "," at[2])
        }
        BEGIN {
            FILENAME_OF["-"] = before
            FILENAME_OF["+"] = after
            for (side in FILENAME_OF)
                for (i = 0; (getline text <FILENAME_OF[side]) > 0;)
                    line[FILENAME_OF[side], ++i] = text
        }
        /^@@ / { $2 = number_of($2); $3 = number_of($3) }
        { print }' "$dir/part"
}

# compare NAME BEFORE-NAME BEFORE AFTER
compare() {
    awk -v mode=strip -f common/make/reader/markers.awk "$3" >"$dir/before"
    awk -v mode=strip -f common/make/reader/markers.awk "$4" >"$dir/after"
    diff -u -L "$3" -L "$4" "$dir/before" "$dir/after" >"$dir/diff" || [ $? -eq 1 ]
    awk -v name="$1" -v parent="$2" -v percent="$dir/percent" '
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
            of_story = story ? 100 * story_changed / story : 0
            printf "%s: %.0f %% of its lines are new against %s (story: %.0f %%)\n", name,
                100 * changed / lines, parent, of_story
            print (of_story > 50) >percent
        }' "$dir/diff" "$dir/after"
    if [ "$all" = --all ]; then
        cat "$dir/diff"
        return
    fi
    [ -n "$said" ] || echo "$shows ARGS=--all shows all lines."
    said=1
    [ -z "$ladder" ] || [ "$4" != "$source" ] || return 0
    story "$3" >"$dir/before.story"
    story "$4" >"$dir/after.story"
    if [ -n "$kernels" ] && ! grep -q '__global__\|__device__' "$dir/after.story"; then
        echo "$1 defines no kernel: it calls those that its lines with #include name."
        return 0
    fi
    if [ "$(cat "$dir/percent")" = 0 ]; then
        differ "$3" "$4" "$dir/before.story" "$dir/after.story"
        return
    fi
    rm -f "$dir"/[0-9]*.before "$dir"/[0-9]*.after
    : >"$dir/headers"
    ! ls common/cuda/*.cuh >/dev/null 2>&1 ||
        awk -v list=1 -f common/make/reader/functions.awk common/cuda/*.cuh >"$dir/headers"
    awk -v out="$dir" -v kernels="$kernels" -v headers="$dir/headers" -f common/make/reader/functions.awk \
        "$dir/before.story" "$dir/after.story" >"$dir/pairs"
    grep '^pair ' "$dir/pairs" | while read -r _ n was is; do
        [ "$is" = - ] && was='' is='' # what stands outside of functions
        [ "$was" != - ] || was=none
        differ "$3${was:+: $was}" "$4${is:+: $is}" "$dir/$n.before" "$dir/$n.after"
    done
    sed -n 's/^say //p' "$dir/pairs"
}

folder=$(dirname "$source")
name=$(basename "$folder")
parent=$(sed -En 's/^ \* (Grows from|Follows): *([^ ,.;]*).*/\2/p' "$source" | head -n 1)
kernels=$(sed -n 's/^ \* Follows: .*/1/p' "$source" | head -n 1)
shows="Below is the story: no header, no variants that explain, no tables."
[ -z "$kernels" ] || shows="Little is shared. Below are the kernel and the functions that both have, then what is new or gone, by name."
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
