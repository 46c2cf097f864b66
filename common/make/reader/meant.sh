#!/bin/sh
# meant.sh WORD KNOWN ...: the one of the known words that WORD is meant to be: a step, however its number is written
# ("step3", "03", "steps/03-name") or by its name, a word that is used for the same, or one that differs in two letters
# at most, in one of short ones. Prints nothing if there is none. A KNOWN that ends in = is a setting.
word=$(printf '%s' "$1" | sed 's/–/-/g; s/—/-/g')
shift
name=${word#step-}
case $name in
install) word=setup ;;
start | verify) word=run ;;
answer) word=solution ;;
pdf) word=book-pdf ;;
html) word=book ;;
*/*) ;;
?*)
    for folder in steps/[0-9][0-9]-"$name"; do
        [ ! -d "$folder" ] || word=$folder
    done
    ;;
esac
printf '%s\n' "$@" | awk -v word="$word" '
    function least(a, b) { return a < b ? a : b }
    # How many letters have to be changed, added, left out or swapped.
    function distance(a, b,    i, j, d, same) {
        for (i = 0; i <= length(a); i++) d[i, 0] = i
        for (j = 0; j <= length(b); j++) d[0, j] = j
        for (i = 1; i <= length(a); i++)
            for (j = 1; j <= length(b); j++) {
                same = substr(a, i, 1) == substr(b, j, 1)
                d[i, j] = least(d[i - 1, j - 1] + !same, least(d[i - 1, j], d[i, j - 1]) + 1)
                if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1))
                    d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
            }
        return d[length(a), length(b)]
    }
    BEGIN {
        lower = tolower(word)
        if (match(lower, /^(steps?[-_ .\/]*)?[0-9]+([^0-9].*)?$/)) {
            sub(/^[^0-9]*/, "", lower)
            number = sprintf("step-%02d", lower)
            is_step = 1
        }
        least_yet = 9
    }
    is_step { if ($0 == number) best = number; next }
    {
        name = tolower($0)
        sub(/=$/, "", name)
        away = distance(lower, name)
        if (index(lower, name) == 1 && length(name) > 3) away = least(away, 1) # "prediction"
        if (away > (length(name) < 5 || length(lower) < 5 ? 1 : 2)) next
        if (/^step-/ && lower !~ /[0-9]/) next
        if (/=$/ && toupper(word) != word) away += 1.5 # in small letters it is rather a command
        if (/=$/ && away > 2.5) next
        if (away < least_yet) {
            least_yet = away
            best = $0
        }
    }
    END { print best }'
