# figure.awk QUESTIONS ROWS ...: the answers. QUESTIONS is what a program prints for --questions, ROWS are files of
# rows or of counts. Prints a line for each question: its figure and the device of the rows, or "-" and "-" where they
# have none. The last row that fits is taken; counts of all kernels are added up.
BEGIN { FS = "\t" }

FNR == 1 { names = 0 }

/^# device: / { device = substr($0, 11) }

/^#/ { next }

!names {
    split("", at)
    for (names = 1; names <= NF; names++)
        at[$names] = names
    next
}

FILENAME == ARGV[1] {
    n++
    for (name in at)
        ask[n, name] = $(at[name])
    next
}

# True if a row has this figure of question q. Rows of times have a clock, and "-" there is the verification alone.
function fits(q, name) {
    if (!(name in at) || $(at[name]) == "-" || $(at["case"]) != ask[q, "case"])
        return 0
    if ("kernel" in at)
        return ask[q, "kernel"] == "-" || ask[q, "kernel"] == $(at["kernel"])
    if (name ~ /_us$|^ratio|^limit/)
        return $(at["clock"]) == ask[q, "clock"] && $(at["l2"]) == ask[q, "l2"]
    return $(at["clock"]) == "-"
}

{
    for (q = 1; q <= n; q++) {
        parts = split(ask[q, "figure"], part, "/")
        for (i = 1; i <= parts; i++)
            if (fits(q, part[i])) {
                key = q SUBSEP $(at["variant"]) SUBSEP part[i]
                value[key] = ("kernel" in at) ? value[key] + $(at[part[i]]) : $(at[part[i]])
                of[q] = device
            }
    }
}

# The figure of a variant, or "".
function figure(q, variant,    parts, part, key, below) {
    parts = split(ask[q, "figure"], part, "/")
    key = q SUBSEP variant SUBSEP part[1]
    below = q SUBSEP variant SUBSEP part[2]
    if (!(key in value) || parts > 1 && (!(below in value) || value[below] == 0))
        return ""
    return parts > 1 ? value[key] / value[below] : value[key]
}

function answer(q,    k, names, name, least, best, over) {
    if (ask[q, "among"] != "-") {
        names = split(ask[q, "among"], name, " ")
        for (k = 1; k <= names; k++) {
            if (figure(q, name[k]) == "")
                return "-"
            if (k == 1 || figure(q, name[k]) + 0 < least) {
                least = figure(q, name[k]) + 0
                best = name[k]
            }
        }
        return best
    }
    value_of = figure(q, ask[q, "variant"])
    if (value_of == "" || ask[q, "over"] == "-")
        return value_of == "" ? "-" : value_of
    over = figure(q, ask[q, "over"])
    return over == "" || over == 0 ? "-" : value_of / over
}

END {
    CONVFMT = OFMT = "%.6g"
    for (q = 1; q <= n; q++) {
        found = answer(q)
        print found "\t" (found == "-" ? "-" : of[q])
    }
}
