# Checks the markers of the steps' sources against the snippets that the chapters use.
# Files: first the lists of used snippets ("FILE<tab>NAME" lines, written by weave.lua), then the sources: the
# steps' .cu files and their shared files.
function complain(line, text) { print FILENAME ":" line ": " text; bad = 1 }
function finish(   i) {
    for (i = 1; i <= depth; i++) {
        print file ":" at[i] ": " open[i] " is never ended"
        bad = 1
    }
    depth = 0
}
FILENAME ~ /\.used$/ { used[$1, $2] = 1; next }
FNR == 1 {
    finish()
    file = FILENAME
}
/^ *\/\/ *(snippet|solution): / {
    kind = ($2 == "snippet:" || $1 == "//snippet:") ? "snippet" : "solution"
    name = $0
    sub(/^ *\/\/ *(snippet|solution): */, "", name)
    sub(/ .*/, "", name)
    if ((FILENAME, kind, name) in seen)
        complain(FNR, kind " " name " is marked twice: names are unique within a file")
    seen[FILENAME, kind, name] = 1
    if (kind == "snippet" && !((FILENAME, name) in used))
        complain(FNR, "no chapter uses snippet " name ": show it with ```{.cuda step=.. snippet=" \
            name "} or drop the marker")
    depth++
    open[depth] = kind " " name
    at[depth] = FNR
}
/^ *\/\/ *end (snippet|solution): / {
    name = $0
    sub(/^ *\/\/ *end /, "", name)
    sub(/:/, "", name)
    sub(/ *$/, "", name)
    if (depth == 0 || open[depth] != name)
        complain(FNR, "end of " name \
            (depth ? ", but " open[depth] " is open" : ", which is not open"))
    else depth--
}
END { finish(); exit bad }
