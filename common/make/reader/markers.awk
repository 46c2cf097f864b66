# markers.awk: reads a step's marker lines: `// snippet: NAME`, `// solution: NAME -- task`, and their ends,
# `// end snippet: NAME`. Below a solution's first line stand its hints, `// hint: TEXT`; a long one goes on in
# lines that begin with `//` and four blanks.
#   awk -f markers.awk -v mode=strip FILE      the source without its marker lines
#                                              numbers=1: each line behind its number and a tab
#   awk -f markers.awk -v mode=exercise FILE   without them, and with each solution blanked
#   awk -f markers.awk -v mode=hints FILE      a line for each solution: NAME, task, hints; parted by tabs
# A marker without an end, or an end without a marker, is an error: one line on stderr and exit code 2.

function fail(line, message) {
    printf "%s:%d: %s\n", FILENAME, line, message | "cat 1>&2"
    failed = 1
    exit 2
}

function print_hints() {
    if (mode == "hints" && solution != "")
        print solution "\t" task hints
}

/^[ \t]*\/\/ (end )?(snippet|solution): / {
    indent = $0
    sub(/\/\/.*/, "", indent)
    text = $0
    sub(/^[ \t]*\/\/ /, "", text)
    ends = sub(/^end /, "", text)
    kind = text
    sub(/:.*/, "", kind)
    sub(/^[a-z]*: /, "", text)
    name = text
    sub(/ .*/, "", name)
    in_hints = 0
    if (ends) {
        if (!((kind, name) in opened))
            fail(FNR, "end " kind ": " name " ends what is not open")
        delete opened[kind, name]
        if (kind == "solution") {
            print_hints()
            solution = ""
        }
        next
    }
    if ((kind, name) in seen)
        fail(FNR, kind ": " name " is there twice, first in line " seen[kind, name])
    seen[kind, name] = FNR
    opened[kind, name] = FNR
    if (kind == "solution") {
        if (solution != "")
            fail(FNR, "solution: " name " opens inside solution: " solution)
        solution = name
        task = text
        if (!sub(/^[^ ]+ -- /, "", task))
            fail(FNR, "solution: " name " has no task: write `solution: NAME -- task`")
        hints = ""
        in_hints = 1
        if (mode == "exercise")
            print indent "// YOUR CODE: " task
    }
    next
}

/^[ \t]*\/\/ hint: / {
    if (!in_hints)
        fail(FNR, "a hint stands below the line `solution: NAME -- task` that it helps with")
    sub(/^[ \t]*\/\/ hint: /, "")
    hints = hints "\t" $0
    next
}

in_hints && hints != "" && /^[ \t]*\/\/    / {
    sub(/^[ \t]*\/\/ */, "")
    hints = hints " " $0
    next
}

{ in_hints = 0 }

mode == "hints" || mode == "exercise" && solution != "" { next }

{ print (numbers ? FNR "\t" : "") $0 }

END {
    if (!failed)
        for (key in opened) {
            split(key, part, SUBSEP)
            fail(opened[key], part[1] ": " part[2] " has no end")
        }
}
