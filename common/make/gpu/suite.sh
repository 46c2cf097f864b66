#!/bin/sh
# suite.sh: which of the planted faults in tests/check/ and tests/async-faults/ does each checker find? The checkers are ours on the
# CPU and, if there is a GPU, the four tools of compute-sanitizer. The fixed version of each fault is run as
# well. build/data/DEVICE/check-suite.tsv gets one row per fault, with a column per checker:
#   found         a finding of the fault's own class, and none in its fixed version
#   other         findings, but of other classes
#   missed        no finding
#   false-alarm   a finding in the fixed version, with or without one of the fault
#   -             that checker does not run here
# suite.sh one PROGRAM NAME fault|right TOOL ANSWER writes the classes that are found to ANSWER.

if [ "$1" = one ]; then
    program=$2 name=$3 side=$4 tool=$5 answer=$6
    if [ "$tool" = cpu ]; then
        "$program" "$name" "$side" 2>&1 | grep -E '^[a-z ]+: ' | grep -v '^check: '
    else
        options=
        [ "$tool" != memcheck ] || options="--leak-check full --report-api-errors no"
        # shellcheck disable=SC2086
        timeout -k 5 60 "$sanitizer" --tool "$tool" $options --log-file "$answer.log" "$program" \
            "$name" "$side" >/dev/null 2>&1
        # A tool that does not end, or hangs together with the program, has found nothing that counts.
        if ! grep -q SUMMARY: "$answer.log"; then
            echo "suite: $tool did not come to its end with $name $side" >&2
        fi
        awk -f common/make/gpu/sanitizer.awk "$answer.log"
    fi | sed 's/: .*//; s/ /-/g' | sort -u >"$answer"
    exit 0
fi

sanitizer=$(sh common/make/gpu/gpu.sh tool compute-sanitizer)
export sanitizer
tools=cpu device=cpu about=cpu
nvcc=$(sh common/make/gpu/gpu.sh nvcc "$NVCC")
nvcc=${nvcc%% *}
if [ "$nvcc" != - ]; then
    found=$(sh common/make/gpu/gpu.sh device "$nvcc" build/cuda -arch=native)
    case $found in
    cuda*)
        if [ -n "$sanitizer" ]; then
            tools="cpu memcheck racecheck initcheck synccheck"
            device=$(echo "$found" | cut -d ' ' -f 2)
            about=$(echo "$found" | sed 's/^cuda [^ ]* //; s/, nvcc .*//')
        else
            echo "suite: there is no compute-sanitizer here: only our own checks are run" >&2
        fi
        ;;
    esac
fi

work=build/suite
rm -rf $work
mkdir -p $work/cpu $work/cuda $work/answers "build/data/$device" || exit
sources=$(ls tests/check/*.cu tests/async-faults/*.cu)
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
[ "$jobs" -le 8 ] || jobs=8

common/cpu/cudacc --runtime-only || exit
for source in $sources; do
    name=$(basename "$source" .cu)
    echo "common/cpu/cudacc --check -O1 -g -w $source -o $work/cpu/$name"
    arch=-arch=native
    # wgmma needs this architecture.
    ! grep -q wgmma "$source" || arch=-gencode=arch=compute_90a,code=sm_90a
    [ "$tools" = cpu ] ||
        echo "$nvcc -std=c++17 -O3 $arch -lineinfo -w $source -o $work/cuda/$name"
done | xargs -P "$jobs" -I{} sh -c '{}' || {
    echo "suite: not all of it compiles" >&2
    exit 1
}

for source in $sources; do
    program=$(basename "$source" .cu)
    $work/cpu/"$program" --list 2>/dev/null | sed "s/^/$program	/"
done >$work/list
cut -f 1,2 $work/list | while read -r program name; do
    for tool in $tools; do
        folder=cuda
        [ "$tool" != cpu ] || folder=cpu
        for side in fault right; do
            echo "$work/$folder/$program $name $side $tool $work/answers/$name.$side.$tool"
        done
    done
done | xargs -P "$jobs" -L 1 sh common/make/gpu/suite.sh one

out=build/data/$device/check-suite.tsv
{
    echo "# device: $about"
    echo "# backend: $([ "$tools" = cpu ] && echo cpu || echo cuda)"
    if [ "$tools" != cpu ]; then
        echo "# toolkit: $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
        echo "# compute-sanitizer: $("$sanitizer" --version | sed -n 's/.*Version //p' | head -n 1)"
    fi
    echo "# commit: $(sh common/make/gpu/commit.sh)"
    echo "# date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf 'name\tclass\tkind\tcpu\tmemcheck\tracecheck\tinitcheck\tsynccheck\n'
    tab=$(printf '\t')
    while IFS=$tab read -r program name class kind _; do
        class=$(echo "$class" | tr ' ' '-')
        printf '%s\t%s\t%s' "$name" "$class" "$kind"
        for tool in cpu memcheck racecheck initcheck synccheck; do
            fault=$work/answers/$name.fault.$tool
            if [ ! -e "$fault" ]; then
                verdict=-
            elif [ -s "$work/answers/$name.right.$tool" ]; then
                verdict=false-alarm
            elif grep -qx "$class" "$fault"; then
                verdict=found
            elif [ -s "$fault" ]; then
                verdict=other
            else
                verdict=missed
            fi
            printf '\t%s' $verdict
        done
        echo
    done <$work/list
} >$out
awk -F '\t' '/^#/ { next }
    !names { names = split($0, name); next }
    { for (i = 4; i <= NF; i++) n[i, $i]++; faults++ }
    END {
        for (i = 4; i <= names; i++)
            if (n[i, "-"] < faults)
                printf "%-10s found %d of %d, other %d, missed %d, false alarms %d\n", name[i],
                    n[i, "found"], faults, n[i, "other"], n[i, "missed"], n[i, "false-alarm"]
    }' $out
echo "rows: $out"
