#!/bin/sh
# ncu.sh NAME [WORK METRICS CACHE COMMAND...]: runs a program of ours under ncu, or only looks whether
# there is one. Leaves in the folder WORK
#   ncu.tsv  what ncu counted, as ncu.awk writes it     said     what the program said
#   command  how ncu was called                         version  which ncu it was
# METRICS is a file with our name and ncu's in each line, or several of ncu's with + or - between. CACHE is all (empty caches before each pass,
# ncu's default) or none. NAME begins every message; 77 means that ncu cannot run here.
name=$1

ncu=$(sh common/make/gpu/gpu.sh tool ncu)
if [ -z "$ncu" ]; then
    echo "$name: there is no ncu here; Nsight Compute, which comes with the CUDA toolkit, has it" >&2
    exit 77
fi
[ $# -gt 1 ] || exit 0
work=$2 metrics=$3 cache=$4
shift 4
"$ncu" --version | sed -n 's/^Version //p' >"$work/version"
names=$(awk '!/^#/ && NF > 1 {
    parts = split($2, part, /[+-]/)
    for (i = 1; i <= parts; i++)
        if (!asked[part[i]]++)
            printf "%s%s", n++ ? "," : "", part[i]
}' "$metrics")
# Counts do not depend on clocks, so they are left alone. Launches of others are not looked at.
set -- --csv --page raw --print-units base --print-kernel-base demangled --clock-control none \
    --cache-control "$cache" --profile-from-start off --metrics "$names" "$@"
echo "ncu $*" >"$work/command"
"$ncu" --log-file "$work/ncu.csv" "$@" >"$work/said"
code=$?
if [ $code -ne 0 ]; then
    cat "$work/said"
    grep '^==ERROR==' "$work/ncu.csv" >&2
    if grep -q ERR_NVGPUCTRPERM "$work/ncu.csv" "$work/said"; then
        echo "$name: this user may not read the counters: https://developer.nvidia.com/ERR_NVGPUCTRPERM" >&2
        exit 77
    fi
    exit $code
fi
awk -f common/make/gpu/ncu.awk "$work/ncu.csv" >"$work/ncu.tsv"
