#!/bin/sh
# run.sh COMPILER [TOOL]: which of the faults in this folder does a tool find, and does it accuse a fixed version?
#
#   sh run.sh "nvcc -std=c++17 -arch=sm_90a -lineinfo" "compute-sanitizer --tool racecheck --error-exitcode 9"
#   sh run.sh "../../common/cpu/cudacc --check"
#
# COMPILER makes a program of each file. A fault is found if its run, as TOOL PROGRAM NAME fault, ends with an exit code that
# is not 0; without a finding it ends with 0 whatever its result is. A fixed version is accused if its run ends so. A run of
# more than 120 seconds is a hang, and counts as missed. Prints a row per fault, tab-separated, and then the sums.
cd "$(dirname "$0")" || exit
[ -n "$1" ] || {
    echo "run.sh: no compiler: sh run.sh \"nvcc -std=c++17 -arch=sm_90a\" \"compute-sanitizer --error-exitcode 9\"" >&2
    exit 2
}
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Prints the exit code; 124 for a hang: the programs end themselves by an alarm, too.
code_of()
{
    # shellcheck disable=SC2086
    timeout -k 5 120 $tool "$work/$program" "$name" "$1" >/dev/null 2>&1
    code=$?
    case $code in 124 | 137 | 142) code=124 ;; esac
    echo $code
}

compiler=$1 tool=$2
for source in *.cu; do
    program=${source%.cu}
    $compiler "$source" -o "$work/$program" >"$work/log" 2>&1 || {
        echo "run.sh: $source does not compile: $(head -n 1 "$work/log")" >&2
        exit 2
    }
    "$work/$program" --list >"$work/list" 2>/dev/null || exit 2
    while IFS='	' read -r name rule _; do
        case $(code_of fault) in
        0) fault=missed ;;
        124) fault=hang ;;
        *) fault=found ;;
        esac
        case $(code_of right) in
        0) right=silent ;;
        124) right=hang ;;
        *) right=accused ;;
        esac
        printf '%s\t%s\t%s\t%s\n' "$rule" "$name" "$fault" "$right"
    done <"$work/list"
done | awk -F '\t' '{ print; faults++; found += $3 == "found" && $4 == "silent"; accused += $4 == "accused" }
    END { printf "%d of %d faults found, %d fixed versions accused\n", found, faults, accused; exit !faults }'
