# A step's source as a Markdown page: a numbered code block a file, whose lines can be linked to, as #L-12
# in the first one and as #a-name-12 in a-name.cuh beside it.
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
