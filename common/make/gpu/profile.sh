#!/bin/sh
# profile.sh GPU_PROGRAM SOURCE: ncu's counts of a step's kernels, in build/data/DEVICE/. The step's header
# has the program's arguments: " * Profile: [WORDS] ARGUMENTS", with more arguments in further such lines.
# WORDS are
#   kernels=REGEX  only launches of these kernels      warm  caches are left as they are
#   each           one row per launch, beside the row of all launches of a variant
# A step without such a line has no profile.
program=$1 source=$2
name=$(basename "$program")

line=$(sed -n 's/^ \* Profile: *//p' "$source")
[ -n "$line" ] || { echo "$name: its header asks for no profile"; exit 0; }
sh common/make/gpu/ncu.sh "$name" || exit
kernels= each= cache=all
# shellcheck disable=SC2086
set -- $line
while [ $# -gt 0 ]; do
    case $1 in
    kernels=*) kernels=${1#kernels=} ;;
    each) each=1 ;;
    warm) cache=none ;;
    *) break ;;
    esac
    shift
done

work=$(mktemp -d "${TMPDIR:-/tmp}/profile.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
KF_COMMIT=$(sh common/make/gpu/commit.sh)
export KF_COMMIT
sh common/make/gpu/ncu.sh "$name" "$work" common/make/gpu/profile.txt $cache "$program" --seed 1 --once \
    --launches "$work/launches" --out "$work/rows.tsv" "$@" || exit
sh common/make/gpu/profile-rows.sh "$name" "$work" -v kernels="$kernels" -v each="$each"
