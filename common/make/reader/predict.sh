#!/bin/sh
# predict.sh ask STEP PROGRAM [FORCE]: asks the questions that PROGRAM has (--questions), reads an answer a line, and
#     keeps them in work/predictions.tsv. An empty line leaves a question open. What has been compared stays; FORCE
#     asks again for what has not, and where nothing is typed any more the earlier answers stay.
# predict.sh show STEP PROGRAM ROWS: says how far off the answers are: from ROWS, which a run or a count has just
#     written; without a GPU, of times, from the book's. Says nothing if there is no answer.
. common/make/reader/exercises.sh
how=$1 step=$2 program=$3
kept=work/predictions.tsv
device=nvidia-h200
tab=$(printf '\t')
work=$(mktemp -d "${TMPDIR:-/tmp}/predict.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT

answers_of() { # STEP
    [ ! -f "$kept" ] || awk -F '\t' -v "step=$1" '$1 == step' "$kept"
}

# keep FILE: FILE has the step's new lines.
keep() {
    mkdir -p work
    {
        echo "# What was predicted, and what was seen: read by make list. It may be copied, and committed."
        echo "# step${tab}question${tab}date${tab}answer${tab}low${tab}high${tab}seen${tab}device${tab}text"
        {
            [ ! -f "$kept" ] || awk -F '\t' -v "step=$step" '!/^#/ && $1 != step' "$kept"
            cat "$1"
        } | sort -t "$tab" -k 3,3 -k 1,1 -k 2,2n
    } >"$kept.$$"
    mv "$kept.$$" "$kept"
}

ask() {
    "$program" --questions >"$work/questions" || exit
    n=$(($(wc -l <"$work/questions") - 1))
    [ "$n" -gt 0 ] || { echo "step-$step has no question"; exit 0; }
    answers_of "$step" >"$work/old"
    : >"$work/new"
    echo "An empty line leaves a question open. An answer stays once it has been compared."
    i=0 ended=
    while [ $i -lt "$n" ]; do
        i=$((i + 1))
        line=$(sed -n "$((i + 1))p" "$work/questions")
        text=$(echo "$line" | cut -f 10)
        among=$(echo "$line" | cut -f 6)
        unit=$(echo "$line" | cut -f 9)
        [ "$among" != - ] || among=
        [ "$unit" != - ] || unit=
        old=$(awk -F '\t' -v "i=$i" -v "text=$text" '$2 == i && $9 == text' "$work/old")
        echo "Question $i of $n: $text"
        if [ -n "$old" ] && { [ -z "$force" ] || [ "$(echo "$old" | cut -f 7)" != - ]; }; then
            echo "$old" | awk -F '\t' '{
                print "  answered on " $3 ": " $4 ($5 == "-" ? "" : " (" $5 " to " $6 ")") \
                    ($7 == "-" ? "; FORCE=1 asks again" : ", and compared, so it stays")
            }'
            echo "$old" >>"$work/new"
            continue
        fi
        right="a number${unit:+ of $unit} and how sure you are, as 1.5 +- 0.3 or 1.2 to 1.8; 1.5 alone is +- 10 %"
        [ -z "$among" ] || right="one of: $among"
        echo "  $right"
        while :; do
            printf '  > '
            IFS= read -r typed || {
                printf '\npredict: no answer to question %s; those before it are kept, make step-%s predict goes on\n' "$i" "$step" >&2
                # Earlier answers stay, of this question and of those behind it.
                awk -F '\t' -v "i=$i" '$2 >= i' "$work/old" >>"$work/new"
                ended=1
                break 2
            }
            [ -t 0 ] || echo "$typed"
            [ -n "$typed" ] || continue 2
            answer=$(echo "$typed" | awk -v "among=$among" -f common/make/reader/answer.awk)
            if [ -n "$answer" ]; then
                echo "$answer" | awk -F '\t' '$2 != "-" { print "  taken as " $1 ", right if it is " $2 " to " $3 }'
                break
            fi
            echo "  \"$typed\" is no answer; right is $right"
        done
        printf '%s\t%s\t%s\t%s\t-\t-\t%s\n' "$step" "$i" "$(now)" "$answer" "$text" >>"$work/new"
    done
    keep "$work/new"
    [ -z "$ended" ] || exit 1
    [ -s "$work/new" ] || { echo "No answer, so nothing is kept."; exit 0; }
    echo "Kept: make step-$step run and make step-$step count set them beside what is seen; until then FORCE=1 asks again."
}

show() {
    rows=$1
    answers_of "$step" >"$work/old"
    [ -s "$work/old" ] || return 0
    "$program" --questions >"$work/questions" || return 0
    [ -f "$rows" ] || rows=/dev/null
    awk -f common/make/reader/figure.awk "$work/questions" "$rows" >"$work/seen"
    # Times and verdicts are recorded on the GPU, counts on the CPU.
    for recorded in "plots/data/$device/step-$step.tsv" "plots/data/cpu/step-$step-counts.tsv"; do
        [ -f "$recorded" ] || recorded=/dev/null
        awk -f common/make/reader/figure.awk "$work/questions" "$recorded" >"$work/$(basename "$recorded").figures"
    done
    sed 1d "$work/questions" | paste - "$work/seen" "$work"/*.figures >"$work/figures"
    case $program in build/cpu/*) cpu=1 ;; *) cpu= ;; esac
    awk -F '\t' -v "out=$work/new" -v "cpu=$cpu" -f common/make/reader/predict.awk "$work/figures" "$work/old"
    keep "$work/new"
}

case $how in
ask)
    force=$4
    ask
    ;;
show) show "$4" ;;
esac
