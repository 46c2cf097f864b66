# markers.awk: reads a step's marker lines: `// snippet: NAME`, `// solution: NAME -- task`, and their ends,
# `// end snippet: NAME`.
#   awk -f markers.awk -v mode=strip FILE      the source without its marker lines
#   awk -f markers.awk -v mode=exercise FILE   without them, and with each solution blanked
# A marker without an end, or an end without a marker, is an error: one line on stderr and exit code 2.

function fail(line, message) {
    printf "%s:%d: %s\n", FILENAME, line, message | "cat 1>&2"
    failed = 1
    exit 2
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
    if (ends) {
        if (!((kind, name) in opened))
            fail(FNR, "end " kind ": " name " ends what is not open")
        delete opened[kind, name]
        if (kind == "solution")
            solution = ""
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
        if (mode == "exercise")
            print indent "// YOUR CODE: " task
    }
    next
}

mode == "exercise" && solution != "" { next }

{ print }

END {
    if (!failed)
        for (key in opened) {
            split(key, part, SUBSEP)
            fail(opened[key], part[1] ": " part[2] " has no end")
        }
}
