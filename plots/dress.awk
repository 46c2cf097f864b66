# Dresses gnuplot's SVG: a size, a title, colours as #rrggbb, and a style sheet that swaps those of
# style.gp in dark mode. Variable: title (the chart's alt text). The first pairs are INK, SOFT, GRID
# and PANEL; the panel is --bg of book/code.css.
BEGIN {
    n = split("1f2328:d9dde2 5b626b:a3abb5 d8d9d2:363c44 fcfcf9:15181c " \
        "0a5ea8:6fb3f2 c2480a:f59a5c 007a5e:4fcfa8 9c3f86:e79ad3 7a6200:dcc25a 4a5a78:a9bbdb " \
        "c81e3a:ff8a94 dfe8f1:3f5d7c", pairs, " ")
    gsub(/&/, "\\&amp;", title)
    gsub(/</, "\\&lt;", title)
}
function sheet(   i, light, dark) {
    print "<style>"
    print "text, tspan { font-family: system-ui, -apple-system, \"Segoe UI\", Roboto,"
    print "  \"Noto Sans\", \"DejaVu Sans\", sans-serif; }"
    print "@media (prefers-color-scheme: dark) {"
    for (i = 1; i <= n; i++) {
        light = "#" substr(pairs[i], 1, 6)
        dark = "#" substr(pairs[i], 8, 6)
        printf "[color=\"%s\"]{color:%s}[fill=\"%s\"]{fill:%s}[stroke=\"%s\"]{stroke:%s}\n",
            light, dark, light, dark, light, dark
    }
    print "}\n</style>"
}
# gnuplot writes one colour in several ways.
function even(line,   rest, part, rgb) {
    rest = line
    line = ""
    while (match(rest, /rgb\( *[0-9]+, *[0-9]+, *[0-9]+\)/)) {
        part = substr(rest, RSTART + 4, RLENGTH - 5)
        split(part, rgb, ",")
        line = line substr(rest, 1, RSTART - 1) sprintf("#%02x%02x%02x", rgb[1], rgb[2], rgb[3])
        rest = substr(rest, RSTART + RLENGTH)
    }
    line = line rest
    gsub(/"black"/, "\"#1f2328\"", line)
    gsub(/"gr[ae]y"/, "\"#d8d9d2\"", line)
    gsub(/"#FCFCF9"/, "\"#fcfcf9\"", line)
    # A space in front of a label would be lost: it keeps the label off what it stands beside.
    gsub(/" > /, "\" >\302\240", line)
    return line
}
/^ viewBox=/ {
    split($0, box, /[ "]+/)
    print " width=\"" box[5] "\" height=\"" box[6] "\" role=\"img\""
}
/^<title>Gnuplot<\/title>/ { print "<title>" title "</title>"; sheet(); next }
/^<desc>/ { next }
/<defs>/, /<\/defs>/ { print; next }
{ print even($0) }
