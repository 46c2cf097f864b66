#!/bin/sh
# ncu.sh NAME [WORK METRICS CACHE COMMAND...]: runs one of our programs under ncu; with NAME alone it only
# checks that ncu is installed. It writes to the folder WORK
#   ncu.tsv  ncu's counts, as ncu.awk writes them       said     the program's output
#   command  the command line of ncu                    version  the version of ncu
# METRICS is a file: each line has our name and ncu's, or several of ncu's with + or - between. CACHE is all
# (empty caches before each pass, ncu's default) or none. NAME begins every message; exit code 77: ncu cannot
# run here.
name=$1

ncu=$(sh common/make/gpu/gpu.sh tool ncu)
if [ -z "$ncu" ]; then
    echo "$name: there is no ncu here; Nsight Compute, which comes with the CUDA toolkit, has it. BACKEND=cpu counts on the CPU" >&2
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
# Counts do not depend on clock rates, so those are left alone. Only launches after kf_profile(true) are
# counted.
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
