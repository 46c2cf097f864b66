# beside.awk RECORDED COUNTS: the counts of a program beside those of the step's own solution, added up over all
# variants and cases that both have.
#   -v mode=table   a line for each counter that differs, the largest ratio first
#   -v mode=cost    the counter of which the program has most in proportion: "global_ld_sectors 1.08", or "-"
#   -v mode=counts  "launches=12,barriers=96,...": what the program did
BEGIN { FS = "\t" }
FNR == 1 { file++; columns = 0 }
/^#/ { next }
!columns {
    columns = NF
    for (i = 1; i <= NF; i++) name[file, i] = $i
    if (file == 2) { for (i = 5; i <= NF; i++) order[i] = $i; n = NF }
    next
}
{
    key = $2 FS $3
    has[file, key] = 1
    keys[key] = 1
    for (i = 5; i <= columns; i++) sum[file, key, name[file, i]] += $i
}
END {
    for (key in keys)
        if ((1, key) in has && (2, key) in has)
            for (i = 5; i <= n; i++)
                for (f = 1; f <= 2; f++) total[f, i] += sum[f, key, order[i]]
    for (i = 5; i <= n; i++) {
        if (mode == "counts" && total[2, i] > 0)
            printf "%s%s=%.0f", some++ ? "," : "", order[i], total[2, i]
        # An exercise may have taken out a COUNT() with the lines around it, and no task asks for one.
        if (total[1, i] == total[2, i] || total[2, i] < total[1, i] && order[i] ~ /rotations$|^table_loads$/) continue
        ratio[i] = total[1, i] > 0 ? total[2, i] / total[1, i] : 1e9
        for (j = ++found; j > 1 && ratio[differ[j - 1]] < ratio[i]; j--) differ[j] = differ[j - 1]
        differ[j] = i
    }
    if (mode == "counts") print (some ? "" : "-")
    if (mode == "cost") {
        i = differ[1]
        print (!found || ratio[i] <= 1 ? "-" : order[i] " " (total[1, i] > 0 ? sprintf("%.3g", ratio[i]) : "for none"))
    }
    if (mode == "table" && found) printf "%-26s %14s %14s\n", "counter", "yours", "the step's own"
    for (j = 1; j <= found && mode == "table"; j++)
        printf("%-26s %14.0f %14.0f  %s\n", order[differ[j]], total[2, differ[j]], total[1, differ[j]],
            ratio[differ[j]] < 1e9 ? sprintf("%.3g times", ratio[differ[j]]) : "")
}
