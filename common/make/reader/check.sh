#!/bin/sh
# check.sh PROGRAM [ARGUMENTS]: runs a step under the four tools of compute-sanitizer, and prints the
# findings. A variant that must break a rule, as --list says, runs alone and has to be caught; the others run
# together and have to be clean. Exit 0 if all of this is so, else 1.
# A step's header may exclude a tool that does not follow its kernels: " * Check: without TOOL".
program=$1
shift
name=$(basename "$program")

sanitizer=$(sh common/make/gpu/gpu.sh tool compute-sanitizer)
if [ -z "$sanitizer" ]; then
    echo "$name: there is no compute-sanitizer here; it comes with the CUDA toolkit. BACKEND=cpu checks on the CPU" >&2
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/check.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$program" "$@" --list >"$work/list" || exit
sed -n '/^variants/,$p' "$work/list" | sed 1d | awk '{
    finding = match($0, /[(]finding: [^)]*[)]$/) ? substr($0, RSTART + 10, RLENGTH - 11) : ""
    print $1 "\t" finding
}' >"$work/variants"

if [ ! -s "$work/variants" ]; then
    echo "$name: --list names no variant" >&2
    exit 1
fi

# The arguments without --variant: the names of those variants are in --list's output.
n=$# skip=
while [ "$n" -gt 0 ]; do
    argument=$1
    shift
    n=$((n - 1))
    case $skip$argument in
    --variant) skip=skip- ;;
    --variant=*) ;;
    skip-*) skip= ;;
    *) set -- "$@" "$argument" ;;
    esac
done

tools="memcheck racecheck initcheck synccheck"
# To initcheck the output of cuBLAS is unwritten, and it would report every kernel that reads such output.
if ldd "$program" 2>/dev/null | grep -q libcublas; then
    tools="memcheck racecheck synccheck"
    echo "$name: without initcheck, which does not see what cuBLAS writes; on a CPU check sees all reads"
fi
without=$(sed -n 's/^ \* Check: without //p' "steps/${name##*-}"-*/*.cu 2>/dev/null)
if [ -n "$without" ]; then
    tools=$(echo " $tools " | sed "s/ $without / /")
    echo "$name: without $without, which does not follow its barriers (chapter 16); on a CPU check does"
fi
status=0 all=0 predicted=0

# run ARGUMENTS: runs the four tools in parallel, and writes their findings to $work/found.
run() {
    for tool in $tools; do
        options=
        [ $tool != memcheck ] || options="--leak-check full --report-api-errors no"
        # shellcheck disable=SC2086
        {
            "$sanitizer" --tool $tool $options --print-limit 10000 --log-file "$work/$tool.log" \
                "$program" --once "$@" >"$work/$tool.out" 2>"$work/$tool.err"
            echo $? >"$work/$tool.code"
        } &
    done
    wait
    : >"$work/found"
    for tool in $tools; do
        awk -v tool=$tool -f common/make/gpu/sanitizer.awk "$work/$tool.log" >>"$work/found"
        code=$(cat "$work/$tool.code")
        if ! grep -q SUMMARY: "$work/$tool.log"; then
            echo "$name: $tool did not come to its end (code $code): $(cat "$work/$tool.err" \
                "$work/$tool.log" | grep . | head -n 1)" >&2
            status=1
        elif [ "$code" -ne 0 ] && [ ! -s "$work/found" ]; then
            echo "$name: under $tool it ended with code $code: $(head -n 1 "$work/$tool.err")" >&2
            status=1
        fi
    done
    findings=$(wc -l <"$work/found" | tr -d ' ')
    all=$((all + findings))
    sed 's/: .*//' "$work/found" >>"$work/rules"
    case $findings in
    0) said="no findings" ;;
    1) said="1 finding" ;;
    *) said="$findings findings" ;;
    esac
}

clean=$(awk -F '\t' '$2 == "" { print $1 }' "$work/variants")
if [ -n "$clean" ]; then
    # Names have no blanks.
    # shellcheck disable=SC2046
    run "$@" $(printf -- '--variant %s ' $clean)
    echo "$name:" $clean": $said"
    sed 's/^/    /' "$work/found"
    [ "$findings" -eq 0 ] || status=1
fi
awk -F '\t' '$2 != ""' "$work/variants" >"$work/bugs"
tab=$(printf '\t')
while IFS=$tab read -r variant finding; do
    case $finding:$tools in
    uninitialised*:*initcheck*) ;;
    uninitialised*)
        echo "$name: $variant: passed over, it is there for initcheck"
        continue
        ;;
    global\ race:*)
        echo "$name: $variant: passed over, no tool here sees a race between blocks"
        continue
        ;;
    esac
    run "$@" --variant "$variant"
    # The variant may run in no case on this device: after a kernel that faults nothing else can run.
    if [ "$findings" -eq 0 ] && ! awk -v "name=$variant" '$1 == name { ran = 1 } END { exit !ran }' "$work/memcheck.out"; then
        echo "$name: $variant: passed over, it runs in no case here"
        continue
    fi
    others=$(grep -vc "^$finding:" "$work/found")
    if [ "$findings" -gt 0 ] && [ "$others" -eq 0 ]; then
        echo "$name: $variant: $said, $finding as predicted"
        predicted=$((predicted + findings))
    else
        echo "$name: $variant: $said; $finding was predicted, and nothing else"
        status=1
    fi
    sed 's/^/    /' "$work/found"
done <"$work/bugs"
# The last line, as the CPU backend's check has it.
rules=$(sort -u "$work/rules" | awk '{ printf "%s%s", (NR > 1 ? ", " : ""), $0 }')
as=
if [ $status = 0 ]; then
    as=", as predicted"
elif [ $predicted -gt 0 ]; then
    as=", $predicted of them as predicted"
fi
case $all in
0) echo "check: no findings$([ $status = 0 ] || echo ", NOT as predicted")" ;;
1) echo "check: 1 finding$as: $rules" ;;
*)
    n=$(sort -u "$work/rules" | wc -l | tr -d ' ')
    echo "check: $all findings of $n rule$([ "$n" = 1 ] || echo s)$as: $rules" ;;
esac
exit $status
