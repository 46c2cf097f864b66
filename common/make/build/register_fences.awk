# register_fences.awk: finds places in .cu and .cuh files where fence_registers() is missing around products
# of wgmma. `make lint` calls it.
# To the compiler the sums of a product are ordinary registers: it may move a read of them before the wait for
# the product, or a write to them behind the fence before a product that adds to them. No run on a CPU shows
# this bug, and a run on a GPU may need another compiler to show it. So fence_registers() stands behind the
# wait, before sums are read, and behind a write to sums, before a product adds to them.
#
# Sums are followed through calls. needs[] and leaves[] tell what a function does with an argument that is
# declared float (&name)[..][4]: whether it reads it, or adds a product to it, before a fence of its own; and
# the state that it leaves it in. A function may stand behind those that call it, so all are read several
# times, and complaints are those of the last time. Where files have functions of one name, a file calls its
# own, and a file without one calls that of the first file.
#
# A loop is read twice, as sums of a product of one iteration may be read in the next. A function begins and
# ends in the first column, as clang-format lays it out.

BEGIN { known["wgmma"]; known["fence_registers"] } # and all functions that are given sums
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
    if (text == "") begin = FNR
    text = text " " line
    depth += gsub(/\(/, "(", line) - gsub(/\)/, ")", line)
}
depth == 0 && line ~ /[;{}:]$/ {
    if (text ~ /^ [^ }]/) n = 0 # what stood before was a declaration
    statement[functions + 1, ++n] = text
    at[functions + 1, n] = begin
    text = ""
}
/^}/ {
    file[++functions] = FILENAME
    statements[functions] = n
    n = 0
}
END {
    for (f = 1; f <= functions; f++) {
        name_of[f] = called(statement[f, 1])
        if (!(name_of[f] in home)) home[name_of[f]] = file[f]
        own[file[f], name_of[f]]
    }
    TIMES = 6 # calls of calls of calls are at most that deep
    for (time = 1; time <= TIMES; time++)
        for (f = 1; f <= functions; f++) look_at_function()
    exit found
}

# The name of the first function that the text calls or declares; rest is the text behind its parenthesis.
function called(text,    name) {
    rest = ""
    if (!match(text, /[A-Za-z_0-9]+(<[^();]*>)?\(/)) return ""
    name = substr(text, RSTART, RLENGTH)
    rest = substr(text, RSTART + RLENGTH)
    sub(/[<(].*/, "", name)
    return name
}

# Splits text, what stands behind a parenthesis, into list, and returns how many arguments there are.
function arguments(text, list,    i, c, depth, count) {
    split("", list)
    gsub(/<[^<>()]*>/, "", text) # commas of templates
    count = 1
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c ~ /[])}]/ && depth-- == 0) break
        if (c ~ /[[({]/) depth++
        if (c == "," && depth == 0) count++
        else if (c != " ") list[count] = list[count] c
    }
    return count
}

function look_at_function(    i, j, name, names, parameters, position, key) {
    split("", group)
    split("", state) # of sums: "given", "written", "started", "in flight", "waited for" or none of these
    split("", first_need) # of sums that were given
    groups = has_started = 0
    called(statement[f, 1])
    for (j = arguments(rest, parameters); j > 0; j--)
        if (match(parameters[j], /^float\(&[A-Za-z_0-9]+/)) {
            name = substr(parameters[j], 8, RLENGTH - 7)
            position[name] = j
            state[name] = "given"
        }
    for (i = split(members[f], names, " "); i > 0; i--) state[names[i]] = ""
    look_at(2, statements[f])
    for (name in position) {
        known[name_of[f]]
        key = file[f] SUBSEP name_of[f] SUBSEP position[name]
        if (has_waited() && (state[name] == "in flight" || state[name] == "waited for")) {
            complain(statements[f],
                     name " is left, and fence_registers(" name ") behind the wait for its product is missing")
            state[name] = ""
        }
        needs[key] = first_need[name]
        leaves[key] = state[name]
        if (state[name] == "given") delete leaves[key]
    }
}

function has_waited(    i) {
    for (i = 2; i <= statements[f]; i++) if (statement[f, i] ~ /wgmma_wait/) return 1
    return 0
}

function look_at(from, to,    i, last, open, line) {
    for (i = from; i <= to; i++) {
        look_at_statement(i)
        if (statement[f, i] ~ /^ *(for|while|do) .*[{]$/) {
            open = 1
            for (last = i; open > 0 && last < to; ) {
                line = statement[f, ++last]
                open += gsub(/[{]/, "{", line) - gsub(/[}]/, "}", line)
            }
            look_at(i + 1, last - 1)
            look_at(i + 1, last - 1)
            i = last
        }
    }
}

function look_at_statement(i,    text, sums, wait, callee, touched) {
    text = statement[f, i]
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
        for (sums in state) {
            if (state[sums] == "in flight" && group[sums] <= groups - wait) state[sums] = "waited for"
            # The wait is for a product of the caller.
            if (state[sums] == "given" && !has_started) state[sums] = "waited for"
        }
    }
    split("", touched)
    for (callee = called(text); callee != ""; callee = called(rest))
        if (callee in known) look_at_call(i, callee, rest, touched)
    for (sums in state)
        if (!(sums in touched) && mentions(text, sums)) touch(i, sums, "read", "written")
}

function look_at_call(i, callee, text, touched,    j, list, key, commits) {
    for (j = arguments(text, list); j > 0; j--) {
        sub(/[[(].*/, "", list[j])
        if (list[j] !~ /^[A-Za-z_0-9.]+$/) continue
        key = ((file[f], callee) in own ? file[f] : home[callee]) SUBSEP callee SUBSEP j
        if (callee == "fence_registers") {
            if (state[list[j]] ~ /^[wg]/) state[list[j]] = ""
        } else if (callee == "wgmma" && j == 1) {
            touch(i, list[j], text ~ /, 1\);$/ ? "add" : "", "started")
        } else if (key in leaves) {
            touch(i, list[j], needs[key], leaves[key])
            commits = commits || leaves[key] == "in flight"
        } else
            continue
        touched[list[j]]
    }
    groups += commits
}

# A statement needs sums, "read", "add" or neither, and leaves them in a state.
function touch(i, sums, need, left) {
    if (state[sums] == "given") first_need[sums] = need
    if (need == "add" && state[sums] == "written")
        complain(i, sums " was written, and fence_registers(" sums ") in front of the product is missing")
    if (need == "read" && state[sums] ~ /^(started|in flight|waited for)$/)
        complain(i, sums " is read, and fence_registers(" sums ") behind the wait for its product is missing")
    state[sums] = left
    if (left == "in flight") group[sums] = groups + 1 # the function that was called commits it
    if (left == "started" || left == "in flight") {
        has_started = 1
        # Members are not declared in the function: the next time it is known that these are sums.
        if (sums ~ /\./ && index(members[f] " ", " " sums " ") == 0) members[f] = members[f] " " sums
    }
}

function complain(i, what) {
    if (time < TIMES) return
    if (!((file[f], at[f, i], what) in reported)) print file[f] ":" at[f, i] ": " what
    reported[file[f], at[f, i], what]
    found = 1
}

# True if the text has the name as a variable, and not as a member.
function mentions(text, name) {
    return text ~ "(^|[^A-Za-z_0-9.>])" name "([^A-Za-z_0-9]|$)"
}
