#!/bin/sh
# try.sh STEP PROGRAM CHECK COUNT [ARGUMENTS]: is a reader's program right? Runs PROGRAM, then CHECK, the
# command that checks it, then COUNT, the program that counts its cost (empty: there is none here). The output
# is short: one line per case; or the first failure, and the findings of CHECK there. The last line is the
# verdict, which `make list` remembers.
# try.sh --uncompiled STEP: the compiler has said why there is no program.
if [ "$1" = --uncompiled ]; then
    sh common/make/reader/record.sh "$2" wrong '' '' '' '' 'does not compile'
    echo "step-$2 try: not right yet: it does not compile, see above" >&2
    exit 1
fi
step=$1 program=$2 check=$3 count=$4
shift 4

work=$(mktemp -d "${TMPDIR:-/tmp}/try.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# With some of the cases or variants alone, the code that the reader wrote may not have run.
only='' some_cases='' args="$*"
for argument in "$@"; do
    case $argument in
    --case | --case=*) only=1 some_cases=1 ;;
    --variant | --variant=*) only=1 ;;
    esac
done

. common/make/reader/exercises.sh
number=${step#step-}
tried=$(digest_of "$number") # now, as the reader may save again while this runs

# remember CODE VERDICT: keeps it. Where only a part was tried, or nothing could run, it is not known to be right.
remember() {
    state=wrong
    case $1:$only:$2 in
    0::right*) state=right ;;
    0:1:right*)
        [ "$(sh common/make/reader/states.sh "$number" | cut -f 9)" = begun ] || return
        state=begun
        ;;
    0:* | 2:*) return ;;
    1:*:*"its counts are not those"*) state=dear ;;
    esac
    device=$(sed -n 's/^CPU backend, .*/cpu/p; s/^\([^ ].*\), compute [0-9.]*, driver .*/\1/p' "$work/run" | head -n 1)
    cost='' counts=''
    if [ -f "$work/counts" ]; then
        recorded=plots/data/cpu/$step-counts.tsv
        cost=$(awk -v mode=cost -f common/make/reader/beside.awk "$recorded" "$work/counts")
        counts=$(awk -v mode=counts -f common/make/reader/beside.awk "$recorded" "$work/counts")
    fi
    note=$(head -n 1 "$work/cost" 2>/dev/null | sed 's/^ *//')
    [ $state != begun ] || note="right with these ARGS alone: $args"
    sh common/make/reader/record.sh "$number" $state "$seed" "$device" "$cost" "$counts" "$note" "$tried"
}

# Verified cases are printed before a success, and left out before a failure that came later.
say() {
    code=$1 state=
    shift
    [ ! -f "$(work_of "$number")" ] || remember "$code" "$*"
    if [ "$code" != 0 ] && [ "$code" != 2 ]; then
        blanks_of "$number" | sed 's/^\([^	]*\)	/  still blank: \1: /'
    fi
    [ "$code" != 0 ] || [ ! -f "$work/right" ] || cat "$work/right"
    if [ "$code:$only:$state" = 0::right ]; then
        echo "make next goes on; make $step solution sets yours beside the step's own"
    fi
    [ "$code" != 0 ] || [ -z "$only" ] || set -- "$* (only what ARGS names was tried: $step is right when make $step try says so)"
    echo "$step try: $*"
    exit "$code"
}

# digest MODE FILE [OPTION]
digest() {
    awk -v "mode=$1" ${3:+-v "$3"} -f common/make/reader/shapes.awk -f common/make/reader/try.awk "$2"
}

# The seed that the program drew, for the other programs to use; and the place of the failure.
"$program" --verbose "$@" >"$work/run" 2>&1
code=$?
seed=$(sed -n 's/^.*; --seed \([0-9]*\) repeats it$/\1/p' "$work/run" | head -n 1)
where=$(digest where "$work/run")
kind=${where%% *}

# run_own: the step's own program in the case that fails, checked, with a record of what its threads do. MAKE_OWN makes
# it, OWN_CHECK runs it.
run_own() {
    case $kind:$MAKE_OWN in
    results:?* | prediction:?*) ;;
    *) return ;;
    esac
    # shellcheck disable=SC2086
    $MAKE_OWN >"$work/own" 2>&1 && CUDACPU_UNREAD=1 CUDACPU_RECORD=$work/record $OWN_CHECK --seed "$seed" \
        --case "$failing_case" ${failing_variant:+--variant "$failing_variant"} >"$work/own" 2>&1
}

# only_news: leaves out of work/check the memory that the step's own program does not read either: padding, tables for
# other cases.
only_news() {
    [ -f "$work/own" ] && grep -q '^ *never read: ' "$work/check" || return 0
    awk '{ key = $0; sub(/.* in kernel /, "", key); never = /^ *never read: / }
        FILENAME == ARGV[1] { if (never) own[key] = 1; next }
        !never || !(key in own)' "$work/own" "$work/check" >"$work/news"
    mv "$work/news" "$work/check"
}

# say_beside: where the reader's program parts from the step's own, as check compares the two; or what the two count.
say_beside() {
    sed -n "s/^differs: //p" "$work/check" | sed "s/the recorded run's block/the step's own block/g
        s/the recorded run/the step's own/g; s/^/beside the step's own: /" >"$work/beside"
    cat "$work/beside"
    [ -s "$work/beside" ] || count_wrong
}

say_findings() {
    [ ! -s "$work/found" ] || echo "and check says of it:"
    head -n 8 "$work/found"
}

# count_wrong: how much work the variant that fails does beside the step's own, where that case's counts are recorded.
count_wrong() {
    [ "$kind" = results ] && [ -n "$count" ] && [ -n "$failing_variant" ] || return 0
    "$count" --seed "$seed" --case "$failing_case" --variant "$failing_variant" --out "$work/wrong" >"$work/own" 2>&1
    recorded=plots/data/cpu/$step-counts.tsv
    [ ! -f "$work/wrong" ] || [ ! -f "$recorded" ] || awk -f common/make/reader/counted.awk "$recorded" "$work/wrong"
}

# explain ARGUMENTS: prints the findings of CHECK in the case and the variant that fail.
explain() {
    rest=${where#* }
    failing_case=${rest% *} failing_variant=${rest#* }
    [ -n "$check" ] && [ "$failing_case" != - ] || return
    # A step that stops at a failed prediction does not free its memory, and that is no finding.
    [ "$kind $failing_variant" != "prediction -" ] || return
    [ "$failing_variant" = - ] && failing_variant=
    run_own
    # Memory that nobody reads says something of a kernel that came to its end.
    # shellcheck disable=SC2086
    CUDACPU_BESIDE=$([ ! -f "$work/record" ] || echo "$work/record") CUDACPU_UNREAD=$([ "$kind" != results ] || echo 1) \
        $check --seed "$seed" --case "$failing_case" ${failing_variant:+--variant "$failing_variant"} >"$work/check" 2>&1
    only_news
    # Lines that the program itself has printed are left out, and how a kernel died where a finding says it.
    grep -v '^differs: ' "$work/check" >"$work/findings"
    digest failed "$work/findings" checks=1 | grep -v '^case \|^fails too: \|^passes: \|^leak: \|repeats it$' |
        awk '{ line[NR] = $0; if (!/^kernel /) findings = findings "\n" $0 }
            END {
                for (i = 1; i <= NR; i++) {
                    death = line[i]
                    sub(/^kernel .*, block \([0-9]+,[0-9]+,[0-9]+\): (barrier divergence: )?/, "", death)
                    if (line[i] !~ /^kernel / || !index(findings, death))
                        print line[i]
                }
            }' |
        awk 'function bare(line) { gsub(/0x[0-9a-f]+|block [^:]*:/, "", line); return line }
            FNR == NR { said[bare($0)]; next } !(bare($0) in said)' "$work/run" - >"$work/found"
    # A rule that is broken may be the cause of all that differs.
    if grep -q -v '^ *never read: \|^  variant ' "$work/found"; then
        say_findings
        say_beside
    else
        say_beside
        say_findings
    fi
    if [ ! -s "$work/found" ] && [ "$kind" = results ]; then
        [ -s "$work/beside" ] || echo "(check finds nothing in this case: no rule of memory or order is broken)"
        [ -z "$some_cases" ] || echo "(without ARGS, $step try says which other cases fail, and what they have in common)"
    fi
}

case $code in
0) ;;
1)
    digest failed "$work/run"
    explain
    case $kind in
    results) say 1 "not right yet: its results are wrong, see above" ;;
    prediction) say 1 "not right yet: it does not do what is predicted, see above" ;;
    hang) say 1 "not right yet: its threads wait for one another for ever, see above" ;;
    illegal) say 1 "not right yet: a kernel reaches for memory that is not there, see above" ;;
    misaligned) say 1 "not right yet: a kernel's access is not aligned to its size, see above" ;;
    *) say 1 "not right yet: it ended before its results were compared, see above" ;;
    esac
    ;;
77)
    cat "$work/run"
    say 0 "passed over, it cannot run here"
    ;;
*)
    tail -n 20 "$work/run"
    say $code "ended with code $code, so nothing is known to be right"
    ;;
esac
[ "$kind" != nothing ] || {
    cat "$work/run"
    say 1 "nothing ran, so nothing is known to be right"
}
digest right "$work/run" >"$work/right"
[ -n "$check" ] || say 0 "right, and not checked"

# shellcheck disable=SC2086
$check --verbose "$@" ${seed:+--seed "$seed"} >"$work/check" 2>&1
code=$?
case $code in
0) ;;
1)
    digest failed "$work/check" checks=1
    say 1 "not right yet: its results are right and a check fails, see above"
    ;;
77)
    cat "$work/check"
    say 0 "right, and not checked: that cannot be done here"
    ;;
2)
    tail -n 5 "$work/check"
    say 0 "right, and not checked, see above"
    ;;
*)
    tail -n 20 "$work/check"
    say $code "its results are right, and the check ended with code $code"
    ;;
esac
# A warning of the reader's own lines: it breaks no rule, and is seldom meant.
grep 'same value written: .* at work/' "$work/check" | head -n 1 | sed 's/^ */check warns: /' >>"$work/right"
# Requirements that only this step's task has.
for own in steps/"${step#step-}"-*/try.sh; do
    [ ! -f "$own" ] || sh "$own" "$program" "$count" "$work/check" "$check" >"$work/asked" || {
        sed 1q "$work/right"
        cat "$work/asked"
        say 1 "not right yet: its results are right, and it does not do what the task asks, see above"
    }
done
[ -n "$count" ] || say 0 "right: verified and checked, and not counted"
COST_ROWS=$work/counts sh common/make/reader/cost.sh "$step" "$count" "$@" >"$work/cost"
code=$?
case $code in
1 | 4) sed 1q "$work/right" ;;
esac
cat "$work/cost"
case $code in
0) say 0 "right: verified and checked, and it costs what the task allows" ;;
1) say 1 "not right yet: its results are right, and its counts are not those of the task, see above" ;;
3) say 0 "right: verified and checked; no counts are recorded of what was run" ;;
*) say 1 "its results are right, and what it costs could not be counted, see above" ;;
esac
