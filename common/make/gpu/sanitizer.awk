# sanitizer.awk: turns the reports of compute-sanitizer's tools into one line per finding, in the words of our
# own checks: "CLASS: FILE:LINE what, thread and block (N times)". Findings of one class at one place are
# merged. -v tool=NAME is added at the end of each line. Exit 1 if there are any.

function place(line,    text) {
    # "at 0x60 in /path/file.cu:12:kernel(int)" or "at kernel(int)+0x60 in file.cu:12"
    if (!match(line, /[^ \/]+[.](cu|cuh|h|hpp|c|cpp):[0-9]+/))
        return "an unknown place"
    text = substr(line, RSTART, RLENGTH)
    return text
}

function finish(    line) {
    if (class == "")
        return
    if (class == "out of bounds" && freed)
        class = "freed memory"
    line = class ": " (where != "" ? where " " : "") what
    if (!(line in times))
        order[++n] = line
    times[line] += hazards ? hazards : 1
    if (!(line in who))
        who[line] = by
    class = where = what = by = ""
    freed = hazards = 0
}

function begin(name, text) {
    finish()
    class = name
    what = text
}

{
    if (!sub(/^=========[ ]?/, ""))
        next
    sub(/\r$/, "")
}

# memcheck
/^Invalid .* (read|write|atomic)|^Invalid __/ {
    text = $0
    sub(/^Invalid /, "", text)
    begin("out of bounds", text)
    next
}
class == "out of bounds" && /misaligned/ { class = "misaligned" }
class == "out of bounds" && /(free|use-after)/ { freed = 1 }
/^Leaked / {
    text = $0
    sub(/ at 0x[0-9a-f]*/, "", text)
    sub(/^Leaked /, "", text)
    begin("leak", text " never freed")
    next
}
# initcheck
/^Uninitialized / {
    text = $0
    sub(/^Uninitialized /, "", text)
    begin("uninitialised read", text)
    next
}
/^Host API uninitialized memory/ {
    begin("uninitialised read", "copied by the host")
    next
}
# racecheck: "(Error: |Warning: )Race reported between Write access at ... in f.cu:3:k"
/Race reported between|Potential (RAW|WAR|WAW) hazard/ {
    text = $0
    begin("shared race", "")
    where = place(text)
    sub(/^.*between /, "", text)
    sub(/ access at.*$/, "", text)
    what = tolower(text)
    if ($0 ~ /Potential/)
        what = substr($0, match($0, /(RAW|WAR|WAW)/), 3)
    next
}
class == "shared race" && /^[ ]*and (Read|Write) access at/ {
    text = $0
    sub(/^[ ]*and /, "", text)
    sub(/ access at.*$/, "", text)
    if (match($0, /[[][0-9]+ hazards?[]]/)) {
        hazards += substr($0, RSTART + 1, RLENGTH - 2) + 0
    }
    what = what " and " tolower(text) " " place($0)
    next
}
# synccheck
/^Barrier error detected/ {
    text = $0
    sub(/^Barrier error detected[.]?[ ]*/, "", text)
    # "Missing wait." is its message about an mbarrier's phases.
    begin(text ~ /^Missing/ ? "mbarrier" : "barrier divergence",
        tolower(substr(text, 1, 1)) substr(text, 2))
    next
}
# Any tool: the place and the thread.
class != "" && where == "" && /^[ ]+at / { where = place($0) }
class != "" && by == "" && /^[ ]+by thread/ {
    by = $0
    sub(/^[ ]+/, "", by)
}
/SUMMARY:/ { finish() }

END {
    finish()
    for (i = 1; i <= n; i++) {
        line = order[i]
        repeats = times[line] > 1 ? " (" times[line] " times)" : ""
        print line (who[line] != "" ? " " who[line] : "") (tool != "" ? ", " tool : "") repeats
    }
    exit n > 0
}
