#!/bin/sh
# profile-rows.sh NAME WORK [OPTION...]: turns the files that ncu.sh wrote to the folder WORK into
# NAME-profile.tsv in build/data/DEVICE/. WORK also has rows.tsv, the program's rows, and launches, the number
# of launches of each variant in each case. OPTIONs go to profile.awk.
name=$1 work=$2
shift 2

out=$(sh common/make/gpu/folder.sh "$work/rows.tsv")/$name-profile.tsv
{
    grep '^#' "$work/rows.tsv"
    echo "# ncu: $(cat "$work/version")"
    echo "# command: $(sed "s,$work/,,g" "$work/command")"
    awk "$@" -f common/make/gpu/profile.awk common/make/gpu/profile.txt "$work/launches" "$work/ncu.tsv" \
        "$work/rows.tsv"
} >"$work/out.tsv" || exit
mv "$work/out.tsv" "$out"
echo "rows: $out"
