#!/bin/sh
# new-step.sh FROM AS: makes step AS, "46-name", from step FROM, "13": its folder, a header to fill in, its
# recorded counts and exactness, a section of the book and a row of the README. The new step can run at once;
# the program still is FROM's, so the recorded rows hold. All is made in a temporary folder and moved at the
# end: an error leaves nothing half done.
set -e
from=$1 as=$2
refuse() {
    echo "new-step: $1" >&2
    exit 2
}
right='make new-step FROM=13 AS=46-name is right'
case $from in
"") refuse "from which step? $right" ;;
esac
source=$(ls steps/"$from"-*/*.cu 2>/dev/null) || source=
case $from in
[0-9][0-9]) ;;
*) source= ;;
esac
[ -n "$source" ] || refuse "FROM=$from: there is no such step; \`make\` lists them, and a number of two digits is right"
case $as in
"") refuse "what is it called? $right" ;;
[0-9][0-9]-*) ;;
*) refuse "AS=$as: a number of two digits and a hyphen come first, as in 46-name" ;;
esac
number=${as%%-*} slug=${as#*-}
case $slug in
"" | -* | *- | *--* | *[!a-z0-9-]*) refuse "AS=$as: the name has a-z and 0-9, with single hyphens between, as in 46-two-words" ;;
esac
for taken in steps/"$number"-*; do
    [ ! -e "$taken" ] || refuse "AS=$as: the number is taken, by $taken"
done
[ ${#slug} -le 20 ] || refuse "AS=$as: the name has ${#slug} characters; 20 have room in \`make\`'s list"

parent=$(basename "$(dirname "$source")")
title="step $from, with one thing changed: say which"
step=steps/$as
for last in chapters/[0-9][0-9]-*.md; do :; done
last=$(printf '%s\n' "$last" | sed -n 's,chapters/\([0-9][0-9]\)-.*,1\1,p')
chapter=chapters/$(printf '%s' "$((${last:-100} + 1))" | cut -c2-3)-$slug.md

mkdir -p build
new=$(mktemp -d build/new-step.XXXXXX)
moved=
undo() {
    code=$?
    rm -rf "$new"
    # shellcheck disable=SC2086
    [ -z "$moved" ] || rm -rf $moved
    exit $code
}
trap undo EXIT
trap 'exit 1' INT TERM HUP

# --- The program -------------------------------------------------------------------------------------
mkdir -p "$new/$step" "$new/chapters" "$new/plots/data/cpu"
cp "${source%/*}"/* "$new/$step/"
rm "$new/$step/${source##*/}"
# Lines of the header for make and for tests hold for the copy. Lines for recording on a GPU do not: they name
# FROM's files.
awk -v as="$as" -v parent="$parent" -v title="$title" '
    FNR == 1 { print "/* " as ": " title; print " *"; print " * Grows from: " parent }
    !past && /^ \* (Architecture|Libraries|Check|Tests): / { print }
    !past && /\*\// {
        print " *"
        print " * Idea     To be written: what is changed, and why it may pay."
        print " * Predict  To be written, before the first run: which variant gains how much, and by which count."
        print " * Outcome  To be written: what was seen, and what refuted the prediction."
        print " */"
        past = 1
        next
    }
    !past { next }
    /^ *\.step = "/ { sub(/"[^"]*"/, "\"" as "\"") }
    /^ *\.title = "/ { sub(/"[^"]*"/, "\"" title "\"") }
    { print }' "$source" >"$new/$step/$slug.cu"
for what in step title; do
    grep -q "^ *\.$what = \"" "$new/$step/$slug.cu" || refuse "$source has no line .$what = \"...\" to change"
done
for rows in counts exactness; do
    old=plots/data/cpu/step-$from-$rows.tsv
    [ ! -f "$old" ] || sed "s/^$from\(	\)/$number\1/; s/^\(# program: \)$parent\$/\1$as/" "$old" >"$new/plots/data/cpu/step-$number-$rows.tsv"
done

# --- What shows it -----------------------------------------------------------------------------------
# Every snippet has to be in the book: the first is shown in the section, the others in a fold.
{
    printf -- '---\ntitle: "%s"\n---\n\n::: {.step step=%s}\n\n## %s\n\n' "$slug" "$number" "$slug"
    printf '**Question.** To be written.\n\n**Idea.** To be written.\n\n'
    files=$step/$slug.cu
    for file in "${source%/*}"/*.cuh; do
        [ ! -f "$file" ] || files="$files $step/${file##*/}"
    done
    # shellcheck disable=SC2086
    (cd "$new" && awk -v number="$number" '
        /^ *\/\/ snippet: / {
            sub(/^ *\/\/ snippet: */, "")
            sub(/ .*/, "")
            place = FILENAME ~ /\.cu$/ ? "step=" number : "file=" FILENAME
            if (shown++ == 1) print "::: {.further title=\"The rest of the code\"}\n"
            print "```{.cuda " place " snippet=" $0 "}\n```\n"
        }
        END { if (shown > 1) print ":::\n" }' $files)
    printf '**Prediction.** To be written.\n\n**Result.** To be written.\n\n**Why.** To be written.\n\n:::\n'
} >"$new/$chapter"
awk -v number="$number" -v row="| $number $slug | $title |" '
    { line[NR] = $0 }
    /^\| [0-9][0-9] [a-z0-9-]+ \|/ && substr($0, 3, 2) < number { after = NR }
    END { for (i = 1; i <= NR; i++) { print line[i]; if (i == after) print row } }' README.md >"$new/README.md"

# --- All at once -------------------------------------------------------------------------------------
place() {
    [ -e "$new/$1" ] || return 0
    mkdir -p "$(dirname "$1")"
    moved="$moved $1"
    mv "$new/$1" "$1"
}
place "$step"
place "plots/data/cpu/step-$number-counts.tsv"
place "plots/data/cpu/step-$number-exactness.tsv"
place "$chapter"
mv "$new/README.md" README.md
moved=
cat <<END
$step/$slug.cu does what $source does. What is left, in this order:
 1. its header: title (also .title below, and in README.md), Idea, Predict    \$EDITOR $step/$slug.cu
 2. change one thing; each copied function gets "// same as step $from" above   make step-$number run check diff
 3. record what it counts     make step-$number count BACKEND=cpu ARGS='--seed 1' && cp build/data/cpu/step-$number-counts.tsv plots/data/cpu/
 4. record how exact it is    make step-$number exactness
 5. record its times, on a GPU    make step-$number data, then copy build/data/<device>/step-$number*.tsv to plots/data/<device>/
 6. a chart of them           cp plots/$from-*.gp plots/$number-NAME.gp, and change it; make charts
 7. Outcome in the header; the section in $chapter, or moved to where it belongs    make book-lint book
 8. a few planted bugs, which must be rejected    tests/mutants/mutants.tsv; prove tests/mutants.t
 9. all of it                 make test, then make test-all
END
