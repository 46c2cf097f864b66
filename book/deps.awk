# Writes make rules: the files that each chapter and each chart depends on, and how a step's output is made.
# Files: chapters (.md) and chart scripts (.gp). Variables: tree, outputs, charts (folders of made
# files), plots (the scripts), data (rows of the book's device), alldata (its parent), bin (path of
# a step's CPU program without its number), sources (the .cu files of the steps).
# Missing files are left to the filters, which report the place that needs them.
BEGIN {
    n = split(sources, file, " ")
    for (i = 1; i <= n; i++) {
        nn = file[i]
        sub(/\/[^\/]*$/, "", nn)
        sub(/.*\//, "", nn)
        source[substr(nn, 1, 2)] = file[i]
    }
    for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i
}

function base(path) {
    sub(/.*\//, "", path)
    sub(/\.[^.]*$/, "", path)
    return path
}

# The value of key=value or key="value" in a code block's opening line.
function attribute(line, key,   s) {
    if (match(line, "[ {]" key "=\"[^\"]*\"")) {
        s = substr(line, RSTART + 1, RLENGTH - 2)
        sub(/^[^"]*"/, "", s)
        return s
    }
    if (match(line, "[ {]" key "=[^ }\"]+")) {
        s = substr(line, RSTART + 1, RLENGTH - 1)
        sub(/^[^=]*=/, "", s)
        return s
    }
    return ""
}

# One file name for one command; weave.lua has the same function.
function encode(s,   i, c, r) {
    r = ""
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        r = r ((c ~ /[A-Za-z0-9.-]/) ? c : (c == " ") ? "_" : sprintf("+%02x", code[c]))
    }
    return r
}

function need(file) {
    if ((target, file) in asked) return
    asked[target, file] = 1
    print target ": $(wildcard " file ")"
}

# The file's first line is the program's exit status, which the filter compares with the chapter's.
function output(step, command, order, args,   env, file, program) {
    env = order == "" ? "" : "CUDACPU_ORDER=" order
    if (command == "") command = "run"
    if (command !~ /^(run|count|check)$/) return
    program = bin step
    # Programs with an instrument are in a folder beside that of the plain programs.
    if (command != "run") sub(/\/[^\/]*$/, "-" command "&", program)
    file = outputs "/" encode(step " " command " " env " " args) ".txt"
    print target ": " file
    if (file in made) return
    made[file] = 1
    gsub(/\$/, "$$", args)
    print file ": " program
    print "\t@mkdir -p $(@D); " env " " program " --seed 1 " args " >$@.out 2>&1; \\"
    print "\t    { echo \"exit $$?\"; cat $@.out; } >$@.tmp; rm $@.out; mv -f $@.tmp $@"
}

# The same for a program outside of the steps, from its source.
function example_output(source, command,   file, dir) {
    file = outputs "/" encode(source " " command) ".txt"
    dir = source
    sub(/[^\/]*$/, "", dir)
    print target ": " file
    if (file in made) return
    made[file] = 1
    print file ": " source " $(wildcard " dir "*.h) $(addsuffix /runtime,$(CPU))"
    print "\t@mkdir -p $(@D); common/cpu/cudacc " (command == "run" ? "" : "--" command " ") "-run " \
        source " >$@.out 2>&1; \\"
    print "\t    { echo \"exit $$?\"; cat $@.out; } >$@.tmp; rm $@.out; mv -f $@.tmp $@"
}

# The same for the words of `make rule`, which reads the ceilings.
function rule_output(words,   file) {
    file = outputs "/" encode("rule " words) ".txt"
    print target ": " file
    if (file in made) return
    made[file] = 1
    print file ": common/make/reader/rule.awk $(wildcard " alldata "/*/ceilings.tsv)"
    gsub(/[^ ]+/, "'&'", words)
    print "\t@mkdir -p $(@D); awk -f $< " words " >$@.out 2>&1; \\"
    print "\t    { echo \"exit $$?\"; cat $@.out; } >$@.tmp; rm $@.out; mv -f $@.tmp $@"
}

FNR == 1 {
    script = FILENAME ~ /\.gp$/
    target = (script ? charts : tree) "/" base(FILENAME) (script ? ".svg" : ".json")
    print target ": " FILENAME
}
script {
    if (FNR <= 20 && sub(/^# data: */, "")) for (i = 1; i <= NF; i++) need(data "/" $i)
    next
}
{
    line = $0
    while (match(line, /step="?[0-9][0-9]/)) {
        nn = substr(line, RSTART + RLENGTH - 2, 2)
        line = substr(line, RSTART + RLENGTH)
        need(data "/step-" nn ".tsv")
        if (nn in source) need(source[nn])
    }
    line = $0
    while (match(line, /device=[A-Za-z0-9._-]+/)) {
        need(alldata "/" substr(line, RSTART + 7, RLENGTH - 7) "/*.tsv")
        line = substr(line, RSTART + RLENGTH)
    }
    line = $0
    while (match(line, /file=[A-Za-z0-9._/-]+/)) {
        name = substr(line, RSTART + 5, RLENGTH - 5)
        need(name ~ /\// ? name : data "/" name ".tsv")
        line = substr(line, RSTART + RLENGTH)
    }
    line = $0
    while (match(line, /chart:[A-Za-z0-9._-]+/)) {
        need(plots "/" substr(line, RSTART + 6, RLENGTH - 6) ".gp")
        line = substr(line, RSTART + RLENGTH)
    }
    if ($0 ~ /^```+ *\{[^}]*\.output[^}]* example=/)
        example_output(attribute($0, "example"), attribute($0, "command"))
    else if ($0 ~ /^```+ *\{[^}]*\.output[^}]* rule=/) rule_output(attribute($0, "rule"))
    else if ($0 ~ /^```+ *\{[^}]*\.output/)
        output(attribute($0, "step"), attribute($0, "command"), attribute($0, "order"), \
            attribute($0, "args"))
}
