#!/bin/sh
# count.sh CPU_PROGRAM [GPU_PROGRAM] -- [ARGUMENTS]: counts the work of a step's kernels.
# CPU_PROGRAM counts by itself; its rows go to build/data/cpu/, and a line says whether they are those that are recorded
# (recounted.awk). With a GPU_PROGRAM, ncu counts the work of the
# hardware in the same cases, and the table of both goes to build/data/DEVICE/.
cpu=$1 gpu=
shift
[ "$1" = -- ] || { gpu=$1; shift; }
shift

name=$(basename "$cpu")
rows=build/data/cpu/$name-counts.tsv
mkdir -p "${rows%/*}"

# The header of the rows has the seed, so it is fixed: equal rows have to be equal files.
if [ -z "$gpu" ]; then
    rm -f "$rows"
    "$cpu" --seed 1 --out "$rows" "$@" || exit
    recorded=plots/data/cpu/$name-counts.tsv
    case " $* " in *" --json "* | *" --list "* | *" --help "*) exit 0 ;; esac
    if [ -f "$recorded" ] && [ -f "$rows" ]; then
        awk -v "name=$recorded" -f common/make/reader/recounted.awk "$recorded" "$rows"
    fi
    exit 0
fi

sh common/make/gpu/ncu.sh "$name" || exit
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
# Only the CPU backend counts by source line: its output is printed, and the GPU program does not get that
# argument.
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

# The metrics for ncu. Metrics that only some kernels have are left out if none of these has any.
awk 'FNR == 1 { file++ }
    /^#/ { next }
    file == 1 && !columns { columns = split($0, name, "\t"); next }
    file == 1 { for (i = 1; i <= columns; i++) if ($i + 0 > 0) has[name[i]] = 1; next }
    !("cp_async_requests" in has) { sub(/-[^-+ ]*ldgsts[^-+ ]*/, "", $2) }
    $3 != "counted" || $1 in has' FS='\t' "$work/counts.tsv" FS=' ' common/make/gpu/metrics.txt \
    >"$work/metrics"
KF_COMMIT=$(sh common/make/gpu/commit.sh)
export KF_COMMIT
sh common/make/gpu/ncu.sh "$name" "$work" "$work/metrics" all "$gpu" --seed 1 \
    --launches "$work/launches" --out "$work/rows.tsv" "$@" || exit
sed -n '1,2p' "$work/said"
out=$(sh common/make/gpu/folder.sh "$work/rows.tsv")/$name-counts.tsv
{
    grep '^#' "$work/rows.tsv"
    echo "# ncu: $(cat "$work/version")"
    sed -n 's/^# compiler: /# counted: CPU backend, /p' "$work/counts.tsv"
    printf 'step\tvariant\tcase\tkernel\tcounter\tcpu\tgpu\tdifference\n'
} >"$work/out.tsv"
awk -v rows="$work/out.tsv" -v words=1 -f common/make/reader/compare.awk common/make/gpu/metrics.txt \
    "$work/launches" "$work/ncu.tsv" "$work/counts.tsv" || exit
mv "$work/out.tsv" "$out"
echo "rows: $out"
