#!/bin/sh
# exercise.sh SOURCE EXERCISE [FORCE]: writes EXERCISE, the source with its solutions blanked. Files beside
# the source that also have solutions, and files beside it that include one of these, go to a folder with the
# name of EXERCISE, without .cu: a program looks there first, and then beside the source.
# An existing file that differs is the reader's work, and is kept. If FORCE is not empty, it is renamed to
# *.bak, and written anew.
set -e
source=$1 exercise=$2 force=$3
number=$(basename "$exercise" | cut -c1-2)
. common/make/reader/exercises.sh

has_solutions() {
    grep -q '^ *// solution: ' "$1"
}

# write SOURCE EXERCISE
write() {
    mkdir -p "$(dirname "$2")"
    new=$2.new
    fresh "$1" >"$new"
    if [ -f "$2" ] && ! cmp -s "$2" "$new"; then
        if [ -z "$force" ]; then
            rm "$new"
            echo "$2 is kept: it differs from a fresh exercise" \
                "(FORCE=1 starts over, yours becomes ${2##*/}.bak)"
            return
        fi
        bak=$2.bak n=1
        while [ -e "$bak" ]; do n=$((n + 1)) bak=$2.bak$n; done
        mv "$2" "$bak"
        echo "your $2 is now $bak"
    fi
    mv "$new" "$2"
    has_solutions "$1" || return 0
    tasks=$(grep -c '// YOUR CODE: ' "$2")
    echo "$2: $tasks to fill in, then: make step-$number try"
    grep -n '// YOUR CODE: ' "$2" | sed 's/^\([0-9]*\): *\/\/ YOUR CODE: /  line \1: /'
}

beside=$(grep -l '^ *// solution: ' "$(dirname "$source")"/*.cuh 2>/dev/null || :)
for file in $beside; do
    beside="$beside $(grep -l "^#include \"${file##*/}\"" "$(dirname "$source")"/*.cuh || :)"
done
if [ -z "$beside" ] && ! has_solutions "$source"; then
    echo "$source has no solution to take out, so there is no exercise"
    exit 0
fi
new=
trap 'rm -f "$new"' EXIT
write "$source" "$exercise"
for file in $(echo "$beside" | tr ' ' '\n' | sort -u); do
    write "$file" "${exercise%.cu}/${file##*/}"
done
