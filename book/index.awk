# The contents as Markdown. Files: metadata.yaml (if the book has no first page), then the chapters' .size
# files and the list that contents.awk writes.
/^title: / { print "# " substr($0, 8) "\n" }
/^subtitle: / { print substr($0, 11) "\n" }
FILENAME ~ /\.yaml$/ { next }
{ FS = "\t"; $0 = $0 }
FILENAME ~ /\.size$/ { if ($1 == "chapter") { minutes[$2] = $3; sum += $3 }; next }
$1 == "chapter" { order[++n] = $2; name[$2] = $4; part[$2] = $5 }
$1 == "has" { has[$2] = has[$2] " " $3 }
$1 == "step" { steps[++m] = $2; dir[$2] = $3; what[$2] = $5 }

# Groups chapters by part. Chapters of no part are before the first part, or are about all parts.
function heading(text) {
    if (text != now)
        print "\n### " (text == "" ? "All parts" : "Part " text) "\n"
    now = text
}

END {
    print "## Contents\n"
    if (sum) printf "About %.0f hours without the exercises and what is folded.\n\n", sum / 60
    for (i = 1; i <= n; i++) {
        c = order[i]
        heading(part[c])
        number = c ~ /^[0-9]+[a-z]?-/ ? substr(c, 1, index(c, "-") - 1) " " : ""
        sub(/^0/, "", number)
        print "- [" number name[c] "](" c ".html)" (minutes[c] ? ", " minutes[c] " minutes" : "")
        k = split(has[c], list, " ")
        for (j = 1; j <= k; j++) {
            s = list[j]
            print "    - [Step " s " " substr(dir[s], 4) "](" c ".html#step-" s "): " what[s]
        }
    }
    print "\n## Sources of the steps\n"
    for (i = 1; i <= m; i++) {
        s = steps[i]
        printf "%s[`%s`](steps/%s.html)", (i > 1 ? " ·\n" : ""), dir[s], dir[s]
    }
    print ""
}
