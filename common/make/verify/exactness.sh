#!/bin/sh
# exactness.sh PROGRAMS FOLDER FIRST LAST [STEP ...]: how much of their bounds do right variants use? Writes
# the maximum over the seeds FIRST to LAST to FOLDER/step-NN-exactness.tsv for each step. PROGRAMS is the
# folder of the CPU backend's programs. No step may fail.
set -eu
programs=$1 folder=$2 first=$3 last=$4
shift 4
case $last in
*[!0-9]* | 0*)
    echo "exactness: SEEDS=$last: need a whole number above 0, as SEEDS=100" >&2
    exit 2
    ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/exactness.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for step in "$@"; do
    for seed in $(seq "$first" "$last"); do
        echo "$step $seed"
    done
done | CUDACPU_WORKERS=1 xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 2 sh -c '
    "$0/step-$2" --seed "$3" --exactness "$1/$2-$3.tsv" >"$1/$2-$3.log" 2>&1 || {
        echo "step-$2 --seed $3: $(tail -n 1 "$1/$2-$3.log")" >&2
        exit 1
    }' "$programs" "$work"

mkdir -p "$folder"
for step in "$@"; do
    set -- "$work/$step"-*.tsv
    awk -F '\t' -v seeds="$first to $last" '
        /^#/ { if (FNR == NR && !/^# (seed|date)/) print; next }
        $1 == "variant" { next }
        { key = $1 FS $2 FS $3 }
        !(key in mean) { order[++n] = key; mean[key] = largest[key] = 0 }
        $4 > mean[key] + 0 { mean[key] = $4 }
        $5 > largest[key] + 0 { largest[key] = $5 }
        END {
            print "# seeds: " seeds
            print "variant\tcase\ttensor\tmean\tlargest"
            for (i = 1; i <= n; i++)
                print order[i] FS mean[order[i]] FS largest[order[i]]
        }' "$@" >"$work/rows"
    cp "$work/rows" "$folder/step-$step-exactness.tsv"
done
