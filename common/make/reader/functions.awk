# functions.awk: sets the functions of two sources side by side, for diff.sh where most lines are new.
#   awk -f functions.awk -v out=DIR [-v kernels=1] [-v headers=FILE] BEFORE AFTER
# Both are sources without header and marker lines, each line behind its number in the file and a tab. kernels=1: only
# functions of the device. FILE has a line "NAME PATH" for each function that headers define.
# It writes the two sides of pair N to DIR/N.before and DIR/N.after, and prints a line for each: "pair N NAME-BEFORE
# NAME-AFTER", in the order of AFTER; NAME-BEFORE is - for a function that is new, and both are - for what stands outside
# of functions. Then what is said of the others, behind "say ".
#   awk -f functions.awk -v list=1 FILE ...   "NAME PATH" for each function
function begin() {
    held = name = ""
    is_kernel = is_device = inside = n_held = 0
}

function signature(line,    text) {
    text = line
    sub(/\/\/.*/, "", text)
    gsub(/__launch_bounds__ *\([^)]*\)|__align__ *\([^)]*\)|alignas *\([^)]*\)/, "", text)
    if (name == "" && text !~ /^template/ && match(text, /[A-Za-z_][A-Za-z_0-9]* *\(/)) {
        name = substr(text, RSTART, RLENGTH - 1)
        sub(/ *$/, "", name)
        at = substr(row, 1, index(row, "\t") - 1)
    }
}

function finish(    key) {
    key = ++n[side]
    of[side, key] = name
    text_of[side, key] = held
    lines[side, key] = n_held
    kernel[side, key] = is_kernel
    first[side, key] = at
    begin()
}

function to_rest() {
    rest[side] = rest[side] held
    begin()
}

FNR == 1 {
    side = list || FILENAME == ARGV[1] ? 1 : 2 # the first may be empty
    begin()
}
{
    row = list ? FNR "\t" $0 : $0
    code = substr(row, index(row, "\t") + 1)
}

inside {
    held = held row "\n"
    n_held++
    if (code ~ /^}/) {
        if (list)
            print name, FILENAME
        else if (!kernels || is_device)
            finish()
        begin()
    }
    next
}
code == "" || code ~ /^#/ {
    to_rest()
    rest[side] = rest[side] row "\n"
    next
}
{
    held = held row "\n"
    n_held++
    is_kernel = is_kernel || code ~ /__global__/
    is_device = is_device || code ~ /__(global|device)__/
    signature(code)
    if (name != "" && code !~ /^\/\// && code ~ /\{$/)
        inside = 1
    else if (code !~ /^\/\// && code ~ /(;|^}.*)$/)
        to_rest()
}

# The share of lines that the function i of the first side and j of the second have in common; a brace is none.
function alike(i, j,    a, b, m, k, has, same, all) {
    m = split(text_of[1, i], a, "\n")
    for (k = 1; k <= m; k++) {
        sub(/^[0-9]*\t */, "", a[k])
        if (length(a[k]) > 1) {
            has[a[k]]++
            all++
        }
    }
    m = split(text_of[2, j], b, "\n")
    for (k = 1; k <= m; k++) {
        sub(/^[0-9]*\t */, "", b[k])
        if (length(b[k]) > 1) {
            same += has[b[k]]-- > 0
            all++
        }
    }
    return all ? 2 * same / all : 0
}

# A name without its version: attention_v2 is attention.
function stem(name) {
    sub(/_v?[0-9]+$/, "", name)
    return name
}

function bare(text) {
    gsub(/(^|\n)[0-9]*\t/, "\n", text)
    sub(/\n\/\/ same as [^\n]*/, "", text)
    return text
}

function write_pair(a, b, before, after) {
    ++pairs
    printf "%s", before >(out "/" pairs ".before")
    printf "%s", after >(out "/" pairs ".after")
    close(out "/" pairs ".before")
    close(out "/" pairs ".after")
    print "pair", pairs, a, b
}

function say(word, side, i, more) {
    print "say " word ": " (kernel[side, i] ? "kernel " : "function ") of[side, i] ", " lines[side, i] " line" \
        (lines[side, i] == 1 ? "" : "s") more
}

END {
    if (list)
        exit
    while (headers != "" && (getline line <headers) > 0) {
        split(line, word, " ")
        path[word[1]] = word[2]
    }
    # By name, then by the name without a version, then by their lines.
    for (round = 1; round <= 3; round++)
        for (j = 1; j <= n[2]; j++) {
            best = 0
            for (i = 1; i <= n[1] && !mate[j]; i++) {
                if (taken[i] || kernel[1, i] != kernel[2, j])
                    continue
                score = round == 1 ? of[1, i] == of[2, j] : round == 2 ? stem(of[1, i]) == stem(of[2, j]) : alike(i, j)
                if (score >= (round == 3 ? 0.4 : 1) && score > best) {
                    best = score
                    candidate = i
                }
            }
            if (best) {
                mate[j] = candidate
                taken[candidate] = 1
            }
        }
    if (!kernels && bare(rest[1]) != bare(rest[2]))
        write_pair("-", "-", rest[1], rest[2])
    # A new function is shown where it is the subject: the first kernel if none has a mate, or else the first function
    # if there is no kernel.
    for (j = 1; j <= n[2]; j++) {
        some = some || mate[j] && (kernel[2, j] || !kernels)
        is_any = is_any || kernel[2, j]
    }
    for (j = 1; j <= n[2]; j++) {
        if (!mate[j] && (kernel[2, j] || !is_any) && !some) {
            write_pair("-", of[2, j], "", text_of[2, j])
            mate[j] = some = "-"
        } else if (mate[j] && bare(text_of[1, mate[j]]) == bare(text_of[2, j]))
            same = same (same == "" ? "" : ", ") of[2, j]
        else if (mate[j])
            write_pair(of[1, mate[j]], of[2, j], text_of[1, mate[j]], text_of[2, j])
    }
    if (same != "")
        print "say the same: " same
    for (j = 1; j <= n[2]; j++)
        if (!mate[j])
            say("new", 2, j, " (line " first[2, j] ")")
    for (i = 1; i <= n[1]; i++)
        if (!taken[i])
            say("gone", 1, i, of[1, i] in path ? " (" path[of[1, i]] " has one)" : "")
}
