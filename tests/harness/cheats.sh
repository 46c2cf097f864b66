#!/bin/sh
# cheats.sh PROGRAM [TIMED]: runs each cheat of PROGRAM (tests/harness/cheats.cu), and those that need a clock in
# TIMED (cheats_timed.c on the fake runtime), or in PROGRAM too where that was built for a GPU. Prints rows: the
# cheat, what it does, the line that refuses it, where it was seen. Exit 1 if one is not refused, or by another
# line than cheats.tsv has; or if the honest variant is.
#
# On a GPU:  make -s build/cuda/cheats && sh tests/harness/cheats.sh build/cuda/cheats
program=$1 timed=${2-$1}
list=tests/harness/cheats.tsv
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
mkdir -p "$out/root/build/data/fake-g-100-test"
# Of the fake device: fewer flops than a variant of 1 us does.
printf 'name\tvalue\ncopy_tbps\t4\nread_tbps\t4\nfp32_tflops\t0.0002\nlaunch_graph_us\t0.1\n' \
    >"$out/root/build/data/fake-g-100-test/ceilings.tsv"
status=0

# said PROGRAM VARIANT CASE: runs it; its messages are in $out/err. The root with ceilings is for TIMED alone.
said() {
    root=.
    [ "$1" = "$program" ] || root=$out/root
    rm -f "$out/rows.tsv"
    KF_ROOT=$root TMPDIR=$out "$1" --seed 1 --variant "$2" ${3:+--case "$3"} --out "$out/rows.tsv" \
        >"$out/out" 2>"$out/err"
}

complain() {
    echo "cheats: $1" >&2
    status=1
}

honest() {
    said "$1" honest "${2-}" || complain "the honest variant is refused: $(cat "$out/err")"
}
honest "$program" small
honest "$program" sampled
if [ "$timed" = "$program" ]; then
    honest "$program" timed
    honest "$program" brief
else
    honest "$timed"
fi
printf 'cheat\tdoes\trefused_by\tseen_in\n'
tab=$(printf '\t')
sed 1d "$list" | {
    while IFS=$tab read -r cheat where case expected seen; do
        by=$program
        [ "$where" != link ] || continue
        if [ "$where" = clock ] && [ "$timed" != "$program" ]; then
            by=$timed case=
        fi
        said "$by" "$cheat" "$case" && complain "$cheat: not refused"
        line=$(sed -n 's/^97-cheats: //p' "$out/err" | grep -E "$expected" | head -n 1)
        [ -n "$line" ] || complain "$cheat: refused by another line: $(cat "$out/err")"
        ! grep -q fake-row "$out/out" || [ "$cheat" != fake-row ] || ! grep -q '0\.001$' "$out/out" ||
            complain "$cheat: its row is on stdout"
        does=$("$by" --list | sed -n "s/^  $cheat  *//p" | head -n 1)
        printf '%s\t%s\t%s\t%s\n' "$cheat" "$does" "$line" "$seen"
    done
    exit $status
}
