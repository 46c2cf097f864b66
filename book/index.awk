# The contents page as Markdown, from the list that contents.awk writes.
BEGIN { FS = "\t"; print "# " title "\n\n" subtitle "\n\n## Chapters\n" }
$1 == "chapter" { order[++n] = $2; name[$2] = $4 }
$1 == "has" { has[$2] = has[$2] " " $3 }
$1 == "step" { steps[++m] = $2; dir[$2] = $3; what[$2] = $5 }
END {
    for (i = 1; i <= n; i++) {
        c = order[i]
        print "- [" name[c] "](" c ".html)"
        k = split(has[c], list, " ")
        for (j = 1; j <= k; j++) print "    - [Step " list[j] " " substr(dir[list[j]], 4) "](" c ".html#step-" list[j] "): " what[list[j]]
    }
    print "\n## Sources of the steps\n"
    for (i = 1; i <= m; i++) print "- [`" dir[steps[i]] "`](steps/" dir[steps[i]] ".html): " what[steps[i]]
}
