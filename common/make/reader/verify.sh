#!/bin/sh
# verify.sh FILE PROGRAM [ARGS]: runs a reader's own program, of FILE. It must come to its end, and each variant but the
# first must be right in a program of its own too: there the variants before it have left nothing that it could copy.
file=$1 program=$2
shift 2
ended=build/ended

run()
{
    rm -f $ended
    KF_ENDED=$ended "$program" "$@" || return
    [ -e $ended ] || {
        echo "verify: $file ended with code 0 before the harness did: a launcher must return" >&2
        return 1
    }
}

run "$@" || exit
case " $* " in *" --variant"* | *" --list "* | *" --help "* | *" --questions "*) exit ;; esac
"$program" --list | sed -n '/^variants$/,$s/^  \([^ ]*\) .*/\1/p' | sed 1d | while read -r variant; do
    said=$(run --once --variant "$variant" "$@" 2>&1 </dev/null) || {
        printf '%s\n' "$said" >&2
        echo "verify: $variant is wrong in a program of its own: it uses what another variant has left" >&2
        exit 1
    }
done
