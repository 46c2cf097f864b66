# Each "name: light-dark(A, B)" of a style sheet's first rule becomes three rules: A, B where the system asks for
# dark, and B where the reader has chosen it. Readers of EPUB do not know light-dark().
/--[a-z]+: light-dark\(/ {
    rest = $0
    while (match(rest, /--[a-z]+: light-dark\([^)]*\)/)) {
        split(substr(rest, RSTART, RLENGTH), part, /: light-dark\(|, |\)/)
        light = light " " part[1] ": " part[2] ";"
        dark = dark " " part[1] ": " part[3] ";"
        rest = substr(rest, RSTART + RLENGTH)
    }
    next
}
light != "" && /^}/ && !done {
    print "  color-scheme: light dark;" light "\n}"
    print "@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=\"light\"]) {" dark " } }"
    print ":root[data-theme=\"light\"] { color-scheme: light; }"
    print "@media screen { :root[data-theme=\"dark\"] { color-scheme: dark;" dark " } }"
    done = 1
    next
}
{ print }
