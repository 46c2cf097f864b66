# The list of the book's parts, one tab-separated line each, in the order of the files given:
#   chapter SLUG FILE TITLE PART     has SLUG STEP     step NN DIR FILE TITLE     chart NAME
# Every page depends on this list: it changes only if a chapter, a step, a chart or a file of rows is added,
# removed or renamed.
BEGIN { OFS = "\t" }
FNR == 1 {
    base = FILENAME
    sub(/.*\//, "", base)
    kind = base
    sub(/.*\./, "", kind)
    sub(/\.[^.]*$/, "", base)
    front = $0 == "---"
    title = part = ""
    titled = 0
    fenced = 0
    if (kind == "gp") print "chart", base
    if (kind == "cu") {
        dir = FILENAME
        sub(/\/[^\/]*$/, "", dir)
        sub(/.*\//, "", dir)
        title = $0
        sub(/^\/\* */, "", title)
        sub(/ *\*\/ *$/, "", title)
        sub(/^[0-9][0-9]-[^:]*: */, "", title)
        print "step", substr(dir, 1, 2), dir, FILENAME, title
    }
}
kind != "md" { next }
front {
    if (/^(title|part):/) {
        value = $0
        sub(/^[a-z]*: */, "", value)
        gsub(/^"|" *$/, "", value)
        if (/^title/) title = value
        else part = value
    }
    if (FNR > 1 && /^(---|\.\.\.) *$/) {
        front = 0
        if (title != "") print "chapter", base, FILENAME, title, part
        titled = title != ""
    }
    next
}
/^```/ { fenced = !fenced }
fenced { next }
/^# / && !titled {
    title = $0
    sub(/^# */, "", title)
    sub(/ *\{[^}]*\} *$/, "", title)
    gsub(/[`*]/, "", title)
    print "chapter", base, FILENAME, title, ""
    titled = 1
}
/^:::+ *\{[^}]*\.step/ && match($0, /step="?[0-9][0-9]/) {
    print "has", base, substr($0, RSTART + RLENGTH - 2, 2)
}
