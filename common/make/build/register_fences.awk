# register_fences.awk: finds places in .cu and .cuh files where fence_registers() is missing around products
# of wgmma. `make lint` calls it.
# To the compiler the sums of a product are ordinary registers: it may move a read of them before the wait for
# the product, or a write to them behind the fence before a product that adds to them. No run on a CPU shows
# this bug, and a run on a GPU may need another compiler to show it. So fence_registers() stands behind the
# wait, before sums are read, and behind a write to sums, before a product adds to them.
#
# A product is started by wgmma<>, or by a function that starts one and does not wait; its first argument is
# the sums. A loop is read twice, as sums of a product of one iteration may be read in the next. A function
# ends with a brace in the first column, as clang-format lays it out; a function that several files call
# stands in a file that comes first.

FNR == 1 { n = depth = 0; text = "" }

# Statements: text without comments and strings, and the line where each begins.
{
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "", line)
    gsub(/\/\*.*\*\//, "", line)
    sub(/ *(\/\/.*)?$/, "", line)
}
line ~ /^ *#/ || line ~ /\\$/ { next }
/^ *\/\*/ { in_comment = 1 }
in_comment { if (/\*\//) in_comment = 0; next }
line ~ /^ *$/ { next }
{
    if (text == "") at[n + 1] = FNR
    text = text " " line
    depth += gsub(/\(/, "(", line) - gsub(/\)/, ")", line)
}
depth == 0 && line ~ /[;{}:]$/ {
    statement[++n] = text
    text = ""
}
/^}/ {
    look_at_function()
    n = 0
}
END { exit found }

function look_at_function(    i, name, all, adds) {
    split("", group)
    split("", state) # of sums: "written", "started", "in flight", "waited for" or none of these
    groups = 0
    for (i = 1; i <= n; i++) {
        all = all statement[i] "\n"
        if (starts_any(statement[i]) && statement[i] ~ /, 1\);$/) adds = 1
    }
    if (!starts_any(all)) return
    for (i = 1; i <= n; i++) # members are not declared in the function
        if (starts_any(statement[i])) {
            name = substr(statement[i], RSTART, RLENGTH)
            sub(/.*\(/, "", name)
            if (name ~ /\./) state[name] = ""
        }
    if (all !~ /wgmma_wait/ && match(all, /[A-Za-z_0-9]+\(float \(&/)) {
        name = substr(all, RSTART, RLENGTH)
        sub(/\(.*/, "", name)
        starters = starters "|" name
        if (adds) adders[name]
    }
    look_at(1, n)
    for (name in state) # sums that the function was given, and leaves
        if (all ~ /wgmma_wait/ && (state[name] == "in flight" || state[name] == "waited for") &&
            index(statement[1], "(&" name ")"))
            complain(n, name " is left, and fence_registers(" name ") behind the wait for its product is missing")
}

# True if the text calls something that starts a product: RSTART and RLENGTH are the call up to its first
# argument.
function starts_any(text) {
    return match(text, "(^|[^A-Za-z_0-9])(wgmma<[^(]*>" starters ")(<[^(]*>)?\\([A-Za-z_0-9.]+")
}

function look_at(from, to,    i, last, open, line) {
    for (i = from; i <= to; i++) {
        look_at_statement(i)
        if (statement[i] ~ /^ *(for|while|do) .*[{]$/) {
            open = 1
            for (last = i; open > 0 && last < to; ) {
                line = statement[++last]
                open += gsub(/[{]/, "{", line) - gsub(/[}]/, "}", line)
            }
            look_at(i + 1, last - 1)
            look_at(i + 1, last - 1)
            i = last
        }
    }
}

function look_at_statement(i,    text, sums, wait, callee) {
    text = statement[i]
    if (match(text, /^ *float [A-Za-z_0-9]+\[/)) {
        sums = substr(text, RSTART, RLENGTH - 1)
        sub(/.* /, "", sums)
        state[sums] = text ~ /= [{]/ ? "written" : ""
        return
    }
    if (text ~ /wgmma_commit\(/) {
        groups++
        for (sums in state) if (state[sums] == "started") { state[sums] = "in flight"; group[sums] = groups }
    }
    if (match(text, /wgmma_wait<[0-9]+>/)) {
        wait = substr(text, RSTART + 11, RLENGTH - 12)
        for (sums in state)
            if (state[sums] == "in flight" && group[sums] <= groups - wait) state[sums] = "waited for"
    }
    if (match(text, /(^|[^A-Za-z_0-9])fence_registers\([A-Za-z_0-9.]+/)) {
        sums = substr(text, RSTART, RLENGTH)
        sub(/.*\(/, "", sums)
        if (state[sums] ~ /^w/) state[sums] = ""
        return
    }
    if (starts_any(text)) {
        sums = callee = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        sub(/.*\(/, "", sums)
        gsub(/[<(].*|[^A-Za-z_0-9]/, "", callee)
        if (state[sums] == "written" && callee in adders)
            complain(i, sums " was written, and fence_registers(" sums ") in front of the product is missing")
        state[sums] = "started"
    }
    for (sums in state)
        if (mentions(text, sums)) {
            if (state[sums] != "" && state[sums] != "written")
                complain(i, sums " is read, and fence_registers(" sums ") behind the wait for its product is missing")
            state[sums] = "written"
        }
}

function complain(i, what) {
    if (!((FILENAME, at[i], what) in reported)) print FILENAME ":" at[i] ": " what
    reported[FILENAME, at[i], what]
    found = 1
}

# True if the text has the name as a variable, and not as a member.
function mentions(text, name) {
    return text ~ "(^|[^A-Za-z_0-9.>])" name "([^A-Za-z_0-9]|$)"
}
