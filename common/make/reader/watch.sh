#!/bin/sh
# watch.sh MAKE [STEP]: tries STEP's exercise, and again whenever one of its files is saved, until Ctrl-C. Without STEP
# it is the first that is not right, and after it the next one. Files are looked at once a second.
. common/make/reader/exercises.sh
make=$1 step=$2 named=$2
trap 'echo; exit 0' INT TERM

while :; do
    [ -n "$named" ] || step=$(sh common/make/reader/next.sh --step)
    [ -n "$step" ] || { sh common/make/reader/next.sh; exit; }
    [ -f "$(work_of "$step")" ] || "$make" -s "step-$step" exercise
    tried=
    while :; do
        digest=$(digest_of "$step")
        if [ "$digest" != "$tried" ]; then
            tried=$digest
            [ ! -t 1 ] || printf '\033[H\033[2J'
            [ -n "$named" ] || sh common/make/reader/next.sh
            date '+--- %H:%M:%S'
            "$make" --no-print-directory "step-$step" try
            state=$(sh common/make/reader/states.sh "$step" | cut -f 9)
            if [ -z "$named" ] && [ "$state" = right ]; then
                echo "step-$step is right; the next one comes in five seconds"
                sleep 5
                break
            fi
            echo "watching $(work_of "$step"): save it to try again, Ctrl-C to end"
        fi
        sleep 1
    done
done
