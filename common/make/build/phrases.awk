# phrases.awk: finds the phrases of phrases.txt, its first argument, in comments of the files behind it: C's and C++'s,
# and of scripts in lines that begin with #. Exits 1 when it finds one.

function look(text, first,    i) {
    text = tolower(text)
    for (i = 1; i <= phrases; i++)
        if ((first || pattern[i] !~ /^\^/) && text ~ pattern[i]) {
            printf "%s:%d: write %s: %s\n", FILENAME, FNR, instead[i], text
            found = 1
        }
}

FILENAME == ARGV[1] {
    if (!/^#/ && split($0, part, "\t") == 2) {
        pattern[++phrases] = part[1]
        instead[phrases] = part[2]
    }
    next
}
FNR == 1 { inside = 0; scripted = FILENAME !~ /\.(c|h|cu|cuh)$/ && FILENAME !~ /\/include\// }
scripted {
    if (/^[ \t]*#[^!]/) {
        text = $0
        sub(/^[ \t]*#+ */, "", text)
        look(text, !before)
    }
    before = /^[ \t]*#/
    next
}
inside {
    text = $0
    inside = !sub(/\*\/.*/, "", text)
    sub(/^[ \t]*\*? ?/, "", text)
    look(text, 0)
    next
}
/\/\/ (end )?(solution|snippet)/ { next } # markers
/\/\// && !/"[^"]*\/\/[^"]*"/ {
    text = $0
    sub(/.*\/\/+ */, "", text)
    look(text, !before)
    before = /^[ \t]*\/\//
    next
}
/\/\*/ {
    text = $0
    sub(/.*\/\*+ */, "", text)
    sub(/^--- [^ ]+ -+$/, "", text)
    inside = !sub(/\*\/.*/, "", text)
    look(text, 1)
}
{ before = 0 }
END { exit found }
