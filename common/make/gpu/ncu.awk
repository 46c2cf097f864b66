# ncu.awk: turns the output of ncu --csv into a table with one line per launch, in order:
#   ORDINAL TAB KERNEL TAB METRIC=VALUE TAB METRIC=VALUE ...
# Both layouts are read: one line per launch (--page raw, with a line of units under the names), and one line
# per metric. Columns are found by name. Lines before the names are ncu's own messages.

# Splits a line of quoted cells. Commas in quotes belong to the cell.
function cells(line, cell,    n, c, quoted, i, text) {
    n = 0
    text = ""
    quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"" && quoted && substr(line, i + 1, 1) == "\"") {
            text = text c
            i++
        } else if (c == "\"") {
            quoted = !quoted
        } else if (c == "," && !quoted) {
            cell[++n] = text
            text = ""
        } else {
            text = text c
        }
    }
    cell[++n] = text
    return n
}

# 1,024 and 1024.00 are the same number. Text that is no number (n/a) is no value.
function number(text) {
    gsub(/[, ]/, "", text)
    if (text !~ /^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$/)
        return "-"
    return sprintf(text + 0 == int(text + 0) ? "%.0f" : "%.2f", text)
}

function launch(id, kernel) {
    if (id in known)
        return
    known[id] = 1
    order[++launches] = id
    name[id] = kernel
}

{ sub(/\r$/, "") }

!columns {
    if ($0 !~ /^"?ID"?,/)
        next
    columns = cells($0, column)
    for (i = 1; i <= columns; i++)
        at[column[i]] = i
    if (!("Kernel Name" in at)) {
        print "ncu.awk: no column \"Kernel Name\" in what ncu wrote" >"/dev/stderr"
        exit failed = 1
    }
    next
}

{
    if (cells($0, cell) != columns || cell[at["ID"]] !~ /^[0-9]+$/)
        next # units, and words after the table
    id = cell[at["ID"]]
    launch(id, cell[at["Kernel Name"]])
    if ("Metric Name" in at) {
        values[id] = values[id] "\t" cell[at["Metric Name"]] "=" number(cell[at["Metric Value"]])
        next
    }
    for (i = 1; i <= columns; i++)
        if (column[i] ~ /__/)
            values[id] = values[id] "\t" column[i] "=" number(cell[i])
}

END {
    if (failed)
        exit 1
    for (i = 1; i <= launches; i++)
        print i "\t" name[order[i]] values[order[i]]
}
