#!/bin/sh
# count.sh CPU_PROGRAM [GPU_PROGRAM] -- [ARGUMENTS]: what the kernels of a step did.
# CPU_PROGRAM counts by itself; its rows go to build/data/cpu/. With a GPU_PROGRAM, ncu counts what
# the hardware does in the same cases, and the table of both goes to build/data/DEVICE/.
cpu=$1 gpu=
shift
[ "$1" = -- ] || { gpu=$1; shift; }
shift

name=$(basename "$cpu")
rows=build/data/cpu/$name-counts.tsv
mkdir -p "${rows%/*}"

# The seed is in the header of the rows, and the same rows are to be the same file.
if [ -z "$gpu" ]; then
    rm -f "$rows"
    exec "$cpu" --seed 1 --out "$rows" "$@"
fi

ncu=$(sh common/make/gpu.sh tool ncu)
if [ -z "$ncu" ]; then
    echo "$name: there is no ncu here; Nsight Compute, which comes with the CUDA toolkit, has it" >&2
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/count.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The CPU's counts first: they cost no device time, and a wrong argument shows here.
"$cpu" --seed 1 --out "$work/counts.tsv" "$@" >"$work/said" || {
    code=$?
    cat "$work/said"
    exit $code
}
# Source lines are the CPU's matter: its words are printed, the GPU program is not asked.
by_line= n=$#
while [ "$n" -gt 0 ]; do
    argument=$1
    shift
    n=$((n - 1))
    if [ "$argument" = --by-line ]; then
        by_line=1
    else
        set -- "$@" "$argument"
    fi
done
[ -z "$by_line" ] || cat "$work/said"

if [ -z "$KF_COMMIT" ]; then
    KF_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
    git diff --quiet HEAD 2>/dev/null || KF_COMMIT=$KF_COMMIT+dirty
fi
export KF_COMMIT
metrics=$(awk '!/^#/ && NF == 2 { printf "%s%s", n++ ? "," : "", $2 }' common/make/metrics.txt)
# Counts do not depend on clocks, so they are left alone. Launches of others are not looked at.
"$ncu" --csv --page raw --print-units base --print-kernel-base demangled --clock-control none \
    --profile-from-start off --log-file "$work/ncu.csv" --metrics "$metrics" \
    "$gpu" --seed 1 --launches "$work/launches" --out "$work/rows.tsv" "$@" >"$work/said"
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
sed -n '1,2p' "$work/said"
device=$(sed -n 's/^# device: //p' "$work/rows.tsv")
out=build/data/$(echo "$device" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')/$name-counts.tsv
mkdir -p "${out%/*}"
awk -f common/make/ncu.awk "$work/ncu.csv" >"$work/ncu.tsv" || exit
{
    grep '^#' "$work/rows.tsv"
    echo "# ncu: $("$ncu" --version | sed -n 's/^Version //p')"
    sed -n 's/^# compiler: /# counted: CPU backend, /p' "$work/counts.tsv"
    printf 'step\tvariant\tcase\tkernel\tcounter\tcpu\tgpu\tdifference\n'
} >"$work/out.tsv"
awk -v rows="$work/out.tsv" -v words=1 -f common/make/compare.awk common/make/metrics.txt \
    "$work/launches" "$work/ncu.tsv" "$work/counts.tsv" || exit
mv "$work/out.tsv" "$out"
echo "rows: $out"
