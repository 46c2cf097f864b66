# Picks rows and columns by name from a file of recorded rows; style.gp's rows() and cell() call it.
# Variables: where ("variant=fused clock=graph l2!=cold": all must hold), cols ("D median_us"), one
# (1: exactly one row). Prints the columns in the order asked, tab separated, "-" as NaN. What
# cannot be found is one line on stderr, exit 1.
BEGIN {
    FS = "\t"
    OFS = "\t"
    nwhere = split(where, condition, " ")
    ncols = split(cols, column, " ")
}
function fail(text) {
    print FILENAME ": " text | "cat 1>&2"
    failed = 1
    exit 1
}
function index_of(name) {
    if (!(name in place)) fail("no column " name)
    return place[name]
}
/^#/ || /^$/ { next }
!named {
    sub(/\r$/, "")
    for (i = 1; i <= NF; i++) place[$i] = i
    named = 1
    for (i = 1; i <= nwhere; i++) {
        if (!match(condition[i], /!?=/))
            fail("condition " condition[i] " is not column=value or column!=value")
        name = substr(condition[i], 1, RSTART - 1)
        differs[i] = RLENGTH == 2
        value[i] = substr(condition[i], RSTART + RLENGTH)
        tested[i] = index_of(name)
    }
    for (i = 1; i <= ncols; i++) shown[i] = index_of(column[i])
    next
}
{
    sub(/\r$/, "")
    for (i = 1; i <= nwhere; i++) if (($(tested[i]) == value[i]) == differs[i]) next
    line = ""
    for (i = 1; i <= ncols; i++) {
        field = $(shown[i])
        if (field == "-") field = "NaN"
        else has[i] = 1
        line = line (i > 1 ? OFS : "") field
    }
    print line
    found++
}
END {
    if (failed) exit 1
    if (!found) fail("no row has " (where == "" ? "anything" : where))
    if (one && found != 1) fail(found " rows have " where ", not 1")
    for (i = 1; i <= ncols; i++) if (!(i in has)) fail("column " column[i] " is empty where " where)
}
