#!/bin/sh
# try.sh STEP PROGRAM CHECK COUNT [ARGUMENTS]: is a reader's program right? PROGRAM is run, then CHECK,
# the command that checks it, then COUNT, the program that counts what it costs (empty: there is none
# here). The last line says what came out.
step=$1 program=$2 check=$3 count=$4
shift 4

say() {
    code=$1
    shift
    echo "$step try: $*"
    exit "$code"
}

"$program" "$@"
code=$?
case $code in
0) ;;
1)
    # A rule that is broken says more than numbers that are wrong.
    # shellcheck disable=SC2086
    [ -z "$check" ] || $check "$@" 2>&1 | awk '/^  variant .*: [0-9]+ finding/ { findings = 1; print; next }
        findings && /^    [a-z ]+: / { print; next } { findings = 0 }'
    say 1 "not right yet: its results are wrong, see above"
    ;;
77) say 0 "passed over, it cannot run here" ;;
*) say $code "ended with code $code" ;;
esac
[ -n "$check" ] || say 0 "right, and not checked: only g++ builds programs that check"
echo
# shellcheck disable=SC2086
$check "$@"
code=$?
case $code in
0) ;;
1) say 1 "not right yet: its results are right and a check fails, see above" ;;
77) say 0 "right, and not checked: that cannot be done here" ;;
*) say $code "its results are right, and the check ended with code $code" ;;
esac
[ -n "$count" ] || say 0 "right: verified and checked; not counted: only g++ builds programs that count"
sh common/make/reader/cost.sh "$step" "$count" "$@"
code=$?
case $code in
0) say 0 "right: verified and checked, and it costs what the task allows" ;;
1) say 1 "not right yet: its results are right, and it costs more than the task allows, see above" ;;
3) say 0 "right: verified and checked; no counts are recorded of what was run" ;;
*) say 1 "its results are right, and what it costs could not be counted, see above" ;;
esac
