# exercises.sh: read by scripts that ask where the reader stands. STEP is a number with two digits, "03".
# shellcheck shell=sh
# Functions whose body is in parentheses keep their variables to themselves.
# shellcheck disable=SC2034
PROGRESS=work/progress.tsv

source_of() ( # STEP: its main file
    for source in steps/"$1"-*/*.cu; do
        echo "$source"
        exit
    done
)

work_of() ( # STEP: the reader's file
    source=$(source_of "$1")
    echo "work/$1-${source##*/}"
)

# Sources of STEP with solutions: the main file and those beside it.
sources_with_tasks() {
    grep -l '^ *// solution: ' steps/"$1"-*/*.cu steps/"$1"-*/*.cuh 2>/dev/null
}

tasks_of() { # STEP: how many exercises it has
    cat steps/"$1"-*/*.cu steps/"$1"-*/*.cuh 2>/dev/null | grep -c '^ *// solution: '
}

# The reader's copy of a source of STEP.
copy_of() ( # STEP SOURCE
    work=$(work_of "$1")
    case $2 in
    *.cu) echo "$work" ;;
    *) echo "${work%.cu}/${2##*/}" ;;
    esac
)

place_of() ( # STEP CHAPTER: where to read of it: a page of the book, or else a line of the chapter's file
    page=build/book/html/$(basename "$2" .md).html
    if [ -f "$page" ]; then
        echo "$page#step-$1"
    else
        echo "$2, line $(sed -n "/{\.step step=\"*$1/=" "$2" | head -n 1) (make book makes pages)"
    fi
)

hints_of() ( # STEP: a line for each of its exercises: NAME, task, hints
    for source in $(sources_with_tasks "$1"); do
        awk -v mode=hints -f common/make/reader/markers.awk "$source"
    done
)

fresh() { # SOURCE: as `exercise` writes it
    awk -v mode=exercise -f common/make/reader/markers.awk "$1"
}

# The tasks of STEP that the reader's files name: FILE:LINE, task, and "blank" or "filled", parted by tabs. A task is
# blank if the line that comments it is followed by the line that followed it at first.
places_of() (
    for source in $(sources_with_tasks "$1"); do
        copy=$(copy_of "$1" "$source")
        [ ! -f "$copy" ] || fresh "$source" | awk '
            function bare(line) { gsub(/^[ \t]+|[ \t\r]+$/, "", line); return line }
            FNR == 1 { file++; task = "" }
            { line = bare($0) }
            task != "" && line != "" {
                if (file == 1) follows[task] = line
                else print FILENAME ":" at "\t" task "\t" (line == follows[task] ? "blank" : "filled")
                task = ""
            }
            line ~ /^\/\/ YOUR CODE: / { task = substr(line, 15); at = FNR }' - "$copy"
    done
)

blanks_of() { # STEP: FILE:LINE, a tab, the task
    places_of "$1" | awk -F '\t' '$3 == "blank" { print $1 "\t" $2 }'
}

# Whether nothing of STEP has been written yet.
is_untouched() (
    for source in $(sources_with_tasks "$1"); do
        copy=$(copy_of "$1" "$source")
        [ -f "$copy" ] && fresh "$source" | cmp -s - "$copy" || exit
    done
)

# How many lines of STEP's exercise, as it is handed out, the reader's files no longer have; comments do not count.
changed_of() (
    for source in $(sources_with_tasks "$1"); do
        copy=$(copy_of "$1" "$source")
        [ ! -f "$copy" ] || fresh "$source" | awk '
            FNR == 1 { file++ }
            { gsub(/^[ \t]+|[ \t\r]+$/, "") }
            $0 == "" || /^\/\// { next }
            file == 1 { lines[$0]++ }
            file == 2 { lines[$0]-- }
            END { for (line in lines) if (lines[line] > 0) print lines[line] }' - "$copy"
    done | awk '{ sum += $1 } END { print sum + 0 }'
)

digest_of() ( # STEP: a checksum of the reader's files, or "-"
    work=$(work_of "$1")
    [ -f "$work" ] || { echo -; exit; }
    cat "$work" "${work%.cu}"/*.cuh 2>/dev/null | cksum | tr ' ' -
)

now() {
    date '+%Y-%m-%d %H:%M'
}
