# The index as Markdown: each command, counter and rule, and the chapters that have it. Files: the list that
# names.awk writes, then the sections of each chapter, from sections.lua. Counters are looked for in code and in
# the columns of figures, as `blocks` is a word, too.
BEGIN { FS = "\t" }
FNR == NR {
    kind[++n] = $1
    name[n] = $2
    key[n] = $3
    meaning[n] = $4
    next
}
{
    chapter = $1 ~ /^[0-9]+[a-z]?-/ ? substr($1, 1, index($1, "-") - 1) : $3
    sub(/^0/, "", chapter)
    for (i = 1; i <= n; i++) {
        text = kind[i] == "counter" ? $6 : $5 " " $6
        if (last[i] != $1 && text ~ key[i]) {
            found[i] = found[i] " [" chapter "](" $1 ".html#" $2 ")"
            last[i] = $1
        }
    }
}
function list(what, title, intro,   i) {
    print "\n## " title " {#" what "}\n\n" intro "\n"
    for (i = 1; i <= n; i++)
        if (kind[i] == what)
            print "`" name[i] "`\n:   " meaning[i] (meaning[i] ? ". " : "") \
                (found[i] ? "[Chapters" found[i] "]{.found}" : "") "\n"
}
END {
    print "# Index\n"
    print "Commands, counters and rules, with the first place of each chapter that has them." \
        " Words are in the [glossary](glossary.html)."
    list("command", "Commands", "`make help` prints them with their settings.")
    list("counter", "Counters", "Of `make step-NN count`, and of `make step-NN profile`, with Nsight Compute's names.")
    list("rule", "Rules of `check`", "`make step-NN check` reports where one of them is broken.")
}
