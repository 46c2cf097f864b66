# recounted.awk RECORDED ROWS: are the counts of a program those that are recorded? Compared are rows of the same
# variant, case and kernel, by the columns that both files have; without those of local memory where the compilers
# differ. Prints one line: how many rows are the same, or the row that differs most and how many others do. -v
# name=PATH: what the recorded file is called. Nothing where no row is recorded.
BEGIN { FS = "\t" }

FNR == 1 {
    file++
    columns = 0
}

/^# compiler: / { compiler[file] = $0 }
/^#/ { next }

!columns {
    columns = NF
    for (i = 5; i <= NF; i++)
        column[i] = $i
    next
}

{
    row = $2 FS $3 FS $4
    if (file == 1)
        known[row]
    else if (row in known)
        order[++n] = row
    for (i = 5; i <= columns; i++)
        count[file, row, column[i]] += $i
}

END {
    for (k = 1; k <= n; k++) {
        row = order[k]
        differs = 0
        for (i = 5; i <= columns; i++) {
            if (column[i] ~ /^local_/ && compiler[1] != compiler[2])
                continue
            now = count[2, row, column[i]]
            was = count[1, row, column[i]] # a counter that no kernel had makes no column
            if (now == was)
                continue
            differs = 1
            times = now > was ? (now + 1) / (was + 1) : (was + 1) / (now + 1)
            if (times > worst) {
                worst = times
                split(row, part, FS)
                text = sprintf("variant %s, case %s, kernel %s: %s %d, recorded %d", part[1], part[2], part[3],
                    column[i], now, was)
            }
        }
        different += differs
    }
    if (different)
        printf "recorded: %d of %d rows differ from %s, most of all %s\n", different, n, name, text
    else if (n)
        printf "recorded: all %d rows are those of %s\n", n, name
}
