# The contents page as Markdown. Files: metadata.yaml, then the list that contents.awk writes.
/^title: / { print "# " substr($0, 8) "\n" }
/^subtitle: / { print substr($0, 11) "\n" }
FILENAME ~ /\.yaml$/ { next }
FNR == 1 { FS = "\t"; $0 = $0 }
$1 == "chapter" { order[++n] = $2; name[$2] = $4 }
$1 == "has" { has[$2] = has[$2] " " $3 }
$1 == "step" { steps[++m] = $2; dir[$2] = $3; what[$2] = $5 }
END {
    print "## Chapters\n"
    for (i = 1; i <= n; i++) {
        c = order[i]
        print "- [" name[c] "](" c ".html)"
        k = split(has[c], list, " ")
        for (j = 1; j <= k; j++) {
            s = list[j]
            print "    - [Step " s " " substr(dir[s], 4) "](" c ".html#step-" s "): " what[s]
        }
    }
    print "\n## Sources of the steps\n"
    for (i = 1; i <= m; i++) {
        s = steps[i]
        print "- [`" dir[s] "`](steps/" dir[s] ".html): " what[s]
    }
}
