#!/bin/sh
# exercise.sh SOURCE EXERCISE [FORCE]: writes EXERCISE, the source with its solutions blanked.
# A file that is there already and differs is somebody's work: it is kept, unless FORCE is not
# empty. Then it is moved to EXERCISE.bak first.
set -e
source=$1 exercise=$2 force=$3

if ! grep -q '^ *// solution: ' "$source"; then
    echo "$source has no solution to take out, so there is no exercise"
    exit 0
fi
mkdir -p "$(dirname "$exercise")"
trap 'rm -f "$exercise.new"' EXIT
awk -v mode=exercise -f common/make/reader/markers.awk "$source" >"$exercise.new"
if [ -f "$exercise" ] && ! cmp -s "$exercise" "$exercise.new"; then
    if [ -z "$force" ]; then
        echo "$exercise is kept: it differs from a fresh exercise" \
            "(FORCE=1 starts over, yours becomes ${exercise##*/}.bak)"
        exit 0
    fi
    mv "$exercise" "$exercise.bak"
    echo "your $exercise is now $exercise.bak"
fi
mv "$exercise.new" "$exercise"
tasks=$(grep -c '// YOUR CODE: ' "$exercise")
number=$(basename "$exercise" | cut -c1-2)
echo "$exercise: $tasks to fill in, then: make step-$number try"
grep -n '// YOUR CODE: ' "$exercise" | sed 's/^\([0-9]*\): *\/\/ YOUR CODE: /  line \1: /'
