# The names that the index has: command, counter or rule, then the name, a regular expression that finds it in a
# chapter, and the meaning, tab-separated. Input: what `make help` prints, trace.h, metrics.txt and
# profile.txt, and what `make messages` prints, in any order.
BEGIN { OFS = "\t" }
function put(kind, name, key, meaning) {
    gsub(/`/, "", meaning)
    print kind, name, key, meaning
}
# "make step-03 hint    the next hint": a name ends at two blanks or at a colon.
function command(text,   name, meaning, key) {
    if (text !~ /^ *make [a-z]/) return
    sub(/^ */, "", text)
    if (!match(text, /:?   *[^ ]|: /)) return
    name = substr(text, 1, RSTART - 1)
    meaning = substr(text, RSTART)
    sub(/^[: ]+/, "", meaning)
    sub(/ step-04/, "", name)
    gsub(/step-[0-9][0-9]/, "step-NN", name)
    if (name in known) return
    known[name] = 1
    key = name
    sub(/ [A-Z]+=.*/, "", key)
    sub(/step-NN/, "(setup )?(step-[0-9N]+ )+([a-z]+ )*", key)
    sub(/\* /, "*", key)
    if (name == "make step-NN") return
    put("command", name, key "($|[^A-Za-z0-9_-])", meaning)
}
/^  make / {
    n = split($0, parts, /;  +/)
    for (i = 1; i <= n; i++) command(parts[i])
}
/^ *X\(CPU_[A-Z_0-9]+, "/ {
    name = $0
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    meaning = ""
    if (match($0, /\/\*.*\*\//)) meaning = substr($0, RSTART + 3, RLENGTH - 6)
    sub(/^from here: /, "", meaning)
    counter[++counters] = name
    says[name] = meaning
}
FILENAME ~ /(metrics|profile)\.txt$/ && /^[a-z0-9_]+ +[a-z]+_?_[a-z_]/ {
    if (!($1 in says)) { counter[++counters] = $1; says[$1] = "" }
    ncu[$1] = ncu[$1] ? ncu[$1] : $2
}
/^## Rules of/ { rules = 1; next }
/^## / { rules = 0 }
rules && /^- `/ {
    split($0, parts, "`")
    put("rule", parts[2], parts[2], substr($0, index($0, "`:") + 3))
}
END {
    for (i = 1; i <= counters; i++) {
        name = counter[i]
        meaning = says[name] (says[name] && ncu[name] ? "; " : "") (ncu[name] ? "in ncu " ncu[name] : "")
        put("counter", name, "(^|[^A-Za-z0-9_])" name "($|[^A-Za-z0-9_])", meaning)
    }
}
