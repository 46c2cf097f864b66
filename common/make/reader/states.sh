#!/bin/sh
# states.sh [STEP ...]: where the reader stands: a line for each step that has exercises, in the book's order, or
# only for the steps named ("03"). Its fields are parted by tabs, and "-" is none:
#   1 STEP  2 SLUG  3 PART  4 CHAPTER (its file)  5 TITLE of the chapter  6 SECTION of the step  7 TASKS, how many
#   8 BLANK, how many of them are  9 STATE  10 SINCE  11 TRIED (both dates)  12 TRIES  13 SEED  14 DEVICE
#   15 COMMIT  16 COST  17 COUNTS  18 NOTE
# STATE is not-begun, begun, wrong, dear (right, and costs more than the task allows), right, or skipped. What the
# last try said of the files is in work/progress.tsv (record.sh), with a checksum of them: of files that have
# changed since it says nothing, and the state is begun.
. common/make/reader/exercises.sh

chapters=$(ls chapters/[0-9]*.md 2>/dev/null)
# Steps in the order in which chapters have them, then those that no chapter has.
# shellcheck disable=SC2086
ls steps/[0-9][0-9]-*/*.cu | awk '
    FNR == 1 { file++; part = title = step = "" }
    file == 1 {
        split($0, at, "/")
        step = substr(at[2], 1, 2)
        all[++n] = step
        slug[step] = substr(at[3], 1, length(at[3]) - 3)
        next
    }
    FNR < 9 && /^(title|part): / {
        value = $0
        sub(/^[a-z]*: */, "", value)
        gsub(/^"|" *$/, "", value)
        if (/^title/) title = value
        else part = value
    }
    /^:::+ *\{[^}]*\.step/ && match($0, /step="?[0-9][0-9]/) { step = substr($0, RSTART + RLENGTH - 2, 2) }
    /^#/ && (step in slug) && !(step in placed) {
        section = $0
        sub(/^#+ */, "", section)
        gsub(/[`*]|\[|\](\{[^}]*\})?/, "", section)
        placed[step] = 1
        print step "\t" slug[step] "\t" (part == "" ? "-" : part) "\t" FILENAME "\t" title "\t" section
    }
    END {
        for (i = 1; i <= n; i++)
            if (!(all[i] in placed)) print all[i] "\t" slug[all[i]] "\t-\t-\t-\t-"
    }' - $chapters |
    while IFS="$(printf '\t')" read -r step slug part chapter title section; do
        [ $# = 0 ] || case " $* " in *" $step "*) ;; *) continue ;; esac
        tasks=$(tasks_of "$step")
        [ "$tasks" -gt 0 ] || continue
        blank=$tasks state=not-begun
        if [ -f "work/$step-$slug.cu" ]; then
            blank=$(blanks_of "$step" | wc -l | tr -d ' ')
            is_untouched "$step" || state=begun
        fi
        recorded=$(awk -F '\t' -v "step=$step" '$1 == step' "$PROGRESS" 2>/dev/null)
        digest=$(digest_of "$step")
        printf '%s\t' "$step" "$slug" "$part" "$chapter" "$title" "$section" "$tasks" "$blank"
        printf '%s\n' "$recorded" | awk -F '\t' -v OFS='\t' -v "state=$state" -v "digest=$digest" '
            NF == 0 { print state, "-", "-", 0, "-", "-", "-", "-", "-", "-"; exit }
            $6 == digest { print $2, $3, $4, $5, $7, $8, $9, $10, $11, $12; exit }
            {
                note = $2 == "skipped" ? "-" : "changed since it was " ($2 == "dear" ? "right but dear" : $2) ", " $4
                print state, "-", $4, $5, $7, $8, $9, "-", "-", state == "begun" ? note : "-"
            }'
    done
