#!/bin/sh
# try.sh PROGRAM: does it go by the tuner's table? A CPU has none, so it is lent two: the H200's, and one
# whose names are no ways. Either way gives right results, so they would not show a wrong choice.
case $1 in build/cpu/*) ;; *) exit 0 ;; esac
root=$(mktemp -d "${TMPDIR:-/tmp}/try-36.XXXXXX")
trap 'rm -rf "$root"' EXIT
table=$root/build/data/cpu/tuned-dispatch.tsv
mkdir -p "${table%/*}"

with_table() {
    sed "s/^# device: .*/# device: cpu/; $1" plots/data/nvidia-h200/tuned-dispatch.tsv >"$table"
    KF_ROOT=$root "$program" --seed 1 --once --case forward-small --variant dispatch >"$root/said" 2>&1
}

program=$1
with_table '' || {
    tail -n 2 "$root/said"
    echo "  with the H200's table, plots/data/nvidia-h200/tuned-dispatch.tsv, lent to the CPU"
    exit 1
}
! with_table 's/way:fused/way:other/; s/way:op-by-op/way:other/' &&
    ! grep -q 'NOT as predicted' "$root/said" || {
    echo "  with a table that has way:other in every row it goes on; to end the program is right"
    exit 1
}
