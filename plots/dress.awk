# Dresses gnuplot's SVG: a size, a title, and a style sheet that swaps each colour of style.gp in dark mode.
# Variable: title (the chart's alt text). The pairs below are the palette of style.gp; the panel is --bg of book/code.css.
BEGIN {
    n = split("1f2328:d9dde2 5b626b:a3abb5 d8d9d2:363c44 fcfcf9:15181c " \
        "0a5ea8:6fb3f2 c2480a:f59a5c 007a5e:4fcfa8 9c3f86:e79ad3 7a6200:dcc25a 4a5a78:a9bbdb " \
        "c81e3a:ff8a94 dfe8f1:26384a", pairs, " ")
    gsub(/&/, "\\&amp;", title)
    gsub(/</, "\\&lt;", title)
}
function digit(c) { return index("0123456789abcdef", c) - 1 }
function byte(s) { return 16 * digit(substr(s, 1, 1)) + digit(substr(s, 2, 1)) }
function gnuplots(h) { return sprintf("rgb(%3d, %3d, %3d)", byte(substr(h, 1, 2)), byte(substr(h, 3, 2)), byte(substr(h, 5, 2))) }
function sheet(   i, light, dark, forms, k, form) {
    print "<style>"
    print "text { font-family: system-ui, -apple-system, \"Segoe UI\", Roboto, \"Noto Sans\", \"DejaVu Sans\", sans-serif; }"
    print "@media (prefers-color-scheme: dark) {"
    for (i = 1; i <= n; i++) {
        light = substr(pairs[i], 1, 6)
        dark = "#" substr(pairs[i], 8, 6)
        k = split(gnuplots(light) "|#" light "|#" toupper(light) (i == 1 ? "|black" : i == 3 ? "|gray" : ""), forms, "|")
        for (form = 1; form <= k; form++)
            printf "[color=\"%s\"]{color:%s}[fill=\"%s\"]{fill:%s}[stroke=\"%s\"]{stroke:%s}\n", forms[form], dark,
                forms[form], dark, forms[form], dark
    }
    print "}\n</style>"
}
/^ viewBox=/ { split($0, box, /[ "]+/); print " width=\"" box[5] "\" height=\"" box[6] "\" role=\"img\"" }
/^<title>Gnuplot<\/title>/ { print "<title>" title "</title>"; sheet(); next }
/^<desc>/ { next }
{ print }
