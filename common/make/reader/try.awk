# try.awk: the output of a step in few lines, for `make step-NN try`.
#   -v mode=right    a line a case, and the text of the program's own if it is short
#   -v mode=failed   the first variant that fails, with its diagnosis; then how many others do
#   -v mode=where    "KIND CASE VARIANT" of that one, - where none is to blame. KIND: what came out
# -v checks=1: the program checks, and what it finds is what fails.
# Of a program that is not the harness's the last lines are all that can be told.
BEGIN {
    MOST_CASES = 10
    MOST_OWN = 12
    MOST_LINES = 24
    kind = "failed"
}

function add(line) {
    if (taken < MOST_LINES)
        kept[++taken] = line
}

{ last[NR] = $0 }

/^CPU backend, |^[^ ].*, compute [0-9.]+, driver / { head = $0 }

/^case [^ ]+: / {
    at = $2
    sub(/:$/, "", at)
    shape[at] = $0
    cases[++n_cases] = at
    table = block = 0
    next
}

/^skipped, / {
    skipped[++n_skipped] = $0
    table = block = 0
    next
}

/^no choice: / { next }

# The table of a case, to its end.
/^  variant +status / {
    table = 1
    block = 0
    next
}

table && NF == 6 {
    status[at, $2]++
    if ($2 == "ok" || $2 == "predicted" || $2 == "wrong")
        ran++
    if ($2 == "wrong" && !((at, $1) in failed)) {
        failed[at, $1] = 1
        order[++n_failed] = at " " $1
    }
    if ($2 == "ok" && $6 + 0 > most[at] + 0)
        most[at] = $6
    next
}

# What a variant writes is the program's own.
/^  variant [^ ]+ goes on / {
    block = 0
    own[++n_own] = $0
    next
}

# What is said of a variant, and what stands below it.
/^  variant [^ ]/ {
    name = $2
    sub(/:$/, "", name)
    block = 1
    bad = checks ? /: [0-9]+ findings?$/ : /: (WRONG|NOT as predicted)$/
    # What is wrong says more than a prediction that did not come.
    if (bad && (first == "" || kind == "prediction" && /WRONG$/)) {
        first = at " " name
        taken = 0
        kind = checks ? "check" : /NOT/ ? "prediction" : "results"
    }
    if (bad && first == at " " name)
        add($0)
    next
}

block && /^  / {
    if (bad && first == at " " name)
        add($0)
    next
}

# Troubles: what a kernel died of, and what the harness says of it.
/^kernel .*, block \([0-9]+,[0-9]+,[0-9]+\): / {
    died = /deadlock| wait at |waits in vain/ ? "hang" : /misaligned/ ? "misaligned" : \
        /illegal access|out of bounds|stack overflow/ ? "illegal" : "failed"
    death[++n_deaths] = $0
    next
}

/^[0-9][0-9]-.*: variant [^ ,]+, case [^ ,:]+/ {
    match($0, /variant [^ ,]+, case [^ ,:]+/)
    split(substr($0, RSTART, RLENGTH), word, /[ ,]+/)
    here = word[4] " " word[2]
    dead = / failed: /
    if (checks)
        next
    if (first == "" || dead && died != "") {
        if (first != here)
            taken = 0
        say_deaths()
        first = here
        kind = dead ? died : "results"
        if (dead && died == "") # on a GPU the error is all there is
            kind = /Misaligned/ ? "misaligned" : /IllegalAddress/ ? "illegal" : "failed"
    }
    # That a prediction did not come is said above.
    if (first == here && (dead || kind != "prediction" || !taken))
        add($0)
    next
}

# A step may end itself where what it was to do did not come.
/^[0-9][0-9]-.*, NOT as predicted: / && !checks {
    if (first == "") {
        first = (at == "" ? "-" : at) " -"
        kind = "prediction"
    }
    add($0)
    next
}

checks && /^check: / { next }

# What was found of a kernel that died stands at the end.
checks && /^[a-z][a-z ]*: / {
    say_deaths()
    add($0)
    next
}

/^[^ ]+: / {
    if (!/^[0-9][0-9]-/ || title++) # the first line is the title
        add($0)
    next
}

/^ / && at != "" && !table { own[++n_own] = $0 }

# How kernels died. What stands above is kept if it is of the same variant, and dropped if of another.
function say_deaths(    i) {
    for (i = 1; i <= n_deaths; i++)
        add(death[i])
    n_deaths = 0
}

function say_case(at,    text) {
    text = shape[at] ":"
    if (status[at, "ok"])
        text = text " " status[at, "ok"] " right,"
    if (status[at, "predicted"])
        text = text " " status[at, "predicted"] " as predicted,"
    if (status[at, "refused"])
        text = text " " status[at, "refused"] " refused,"
    sub(/,$/, "", text)
    print text (most[at] > 0 ? "; at most " most[at] " of the bound" : "")
}

END {
    say_deaths()
    if (mode == "where") {
        nothing = head != "" && !ran && first == "" && died == "" && !taken
        print nothing ? "nothing" : kind, first != "" ? first : (at != "" ? at : "-") " -"
        exit
    }
    if (head == "") {
        for (i = NR > 8 ? NR - 7 : 1; i <= NR; i++)
            print last[i]
        exit
    }
    if (mode == "right") {
        if (head != "")
            print head
        for (i = 1; i <= n_cases && i <= MOST_CASES; i++)
            say_case(cases[i])
        if (n_cases > MOST_CASES)
            print "and " n_cases - MOST_CASES " more cases, all right"
        for (i = 1; i <= n_skipped; i++)
            print skipped[i]
        if (n_own <= MOST_OWN)
            for (i = 1; i <= n_own; i++)
                print own[i]
        exit
    }
    print head
    split(first != "" ? first : at, word, " ") # the case that was begun last
    if (word[1] in shape)
        print shape[word[1]]
    for (i = 1; i <= taken; i++)
        print kept[i]
    for (i = 1; i <= n_failed; i++)
        if (order[i] != first) {
            split(order[i], word, " ")
            if (++others <= 3)
                names = names (others > 1 ? ", " : "") word[2] " in case " word[1]
        }
    if (others)
        print "not right either: " names (others > 3 ? " and " others - 3 " more" : "")
}
