# A step's source as a Markdown page: one numbered code block per file. Links to lines are #L-12 in the first
# file, and #a-name-12 in a-name.cuh beside it.
FNR == 1 {
    id = FILENAME
    sub(/.*\//, "", id)
    sub(/\.[^.]*$/, "", id)
    if (NR > 1) print "~~~~~~~~\n"
    print (NR > 1 ? "## `" : "# `") FILENAME "`\n\n~~~~~~~~ {#" (NR > 1 ? id : "L") \
        " .cuda .numberLines .lineAnchors tabindex=0}"
}
{ print }
END { print "~~~~~~~~" }
