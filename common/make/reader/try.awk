# try.awk: shortens the output of a step, for `make step-NN try`.
#   -v mode=right    one line per case, and the program's own output if it is short
#   -v mode=failed   the first variant that fails, with its diagnosis; then the number of others
#   -v mode=where    "KIND CASE VARIANT" of the first failure, - if none is to blame; KIND is its kind
# -v checks=1: the program checks, and its findings are the failures.
# Of a program that is not the harness's, only the last lines are printed.
BEGIN {
    MOST_CASES = 10
    MOST_OWN = 12
    MOST_LINES = 24
    MOST_RIGHT = 6
    kind = "failed"
}

function add(line) {
    if (checks && is_more(line))
        return
    if (taken < MOST_LINES)
        kept[++taken] = line
}

# Whether a finding is at the same lines of the reader's own as one before: it is counted with that one.
function is_more(line,    i, n, word, key) {
    if (line !~ /^ *[a-z][a-z ]*: / || line !~ /work\/[^ ():,]*:[0-9]/)
        return 0
    n = split(line, word, /[ (),;]+/)
    key = first
    for (i = 1; i <= n; i++)
        if (word[i] ~ /^work\/.*:[0-9]+$/ && !((line, word[i]) in listed)) {
            listed[line, word[i]] = 1
            at_line[++lines_of] = word[i]
        }
    # The lines in order, as either may come first.
    while (lines_of) {
        n = 1
        for (i = 2; i <= lines_of; i++)
            if (at_line[i] < at_line[n])
                n = i
        key = key " " at_line[n]
        at_line[n] = at_line[lines_of--]
    }
    if (key in shown) {
        more[shown[key]]++
        return 1
    }
    shown[key] = taken + 1
    return 0
}

function forget() {
    taken = 0
    split("", shown)
    split("", more)
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

# The table of a case, up to its end.
/^  variant +status / {
    table = 1
    block = 0
    next
}

table && NF == 6 {
    status[at, $2]++
    if ($2 != "refused")
        result[at, $1] = $2 == "wrong" ? "wrong" : "right"
    if ($2 == "ok" || $2 == "predicted" || $2 == "wrong")
        ran++
    if ($2 == "wrong" && !((at " " $1) in failed)) {
        failed[at " " $1] = 1
        order[++n_failed] = at " " $1
    }
    if ($2 == "wrong" && !fails[$1]++)
        n_fails++
    if ($2 == "ok" || $2 == "predicted")
        passed[++n_passed] = at " " $1
    if ($2 == "ok" && $6 + 0 > most[at] + 0)
        most[at] = $6
    next
}

# This line of a variant is the program's own output.
/^  variant [^ ]+ goes on / {
    block = 0
    own[++n_own] = $0
    next
}

# A message about a variant, and the lines below it.
/^  variant [^ ]/ {
    name = $2
    sub(/:$/, "", name)
    block = 1
    bad = checks ? /: [0-9]+ findings?$/ : /: (WRONG|NOT as predicted)$/
    # Wrong results say more than a prediction that failed.
    if (bad && (first == "" || kind == "prediction" && /WRONG$/)) {
        first = at " " name
        forget()
        kind = checks ? "check" : /NOT/ ? "prediction" : "results"
    }
    if (bad && first == at " " name) {
        in_a_graph = / in a graph: /
        add($0)
    }
    next
}

# Of memory that nobody reads, what the reader's own lines have written, and tensors.
checks && /^ *never read: / {
    if (/ work\/| of (the input|what kernels wrote to) /)
        add($0)
    next
}

block && /^  / {
    if (bad && first == at " " name) {
        inexact = inexact || / is less exact than /
        add($0)
    }
    next
}

# Deaths of kernels, and the harness's messages about them.
/^kernel .*, block \([0-9]+,[0-9]+,[0-9]+\): / {
    died = /deadlock| waits? at |waits in vain|does not leave the loop|spins in a loop/ ? "hang" : /misaligned|: need a multiple of/ ? "misaligned" : \
        /illegal access|out of bounds|stack overflow|memory ends at|a call of the function at/ ? "illegal" : "failed"
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
    block = 0 # the lines below are the program's own
    if (first == "" || dead && died != "") {
        if (first != here)
            forget()
        say_deaths()
        first = here
        kind = dead ? died : "results"
        if (dead && died == "") # on a GPU the error is all there is
            kind = /Misaligned/ ? "misaligned" : /IllegalAddress/ ? "illegal" : "failed"
    }
    # The failure of a prediction is already in the lines above.
    if (first == here && (dead || kind != "prediction" || !taken))
        add($0)
    next
}

# A step may stop when something that it predicts does not happen.
/^[0-9][0-9]-.*, NOT as predicted: / && !checks {
    if (first == "") {
        first = (at == "" ? "-" : at) " -"
        kind = "prediction"
    }
    add($0)
    next
}

checks && /^check: / { next }

# Findings of a kernel that died stand at the end.
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

# Prints how kernels died. Lines above are kept if they are of the same variant, and dropped if of another.
function say_deaths(    i) {
    for (i = 1; i <= n_deaths; i++)
        add(death[i])
    n_deaths = 0
}

# The cases in which a variant is right that fails in others: between the two lies what is wrong.
function right_ones(    i, n, word, text) {
    for (i = 1; i <= n_passed; i++) {
        split(passed[i], word, " ")
        if (fails[word[2]] && ++n <= MOST_RIGHT)
            text = text (n > 1 ? ", " : "") (n_fails > 1 ? word[2] " in " : "") word[1]
    }
    if (!n)
        return n_fails && n_cases > 1 ? "none" : ""
    return text (n > MOST_RIGHT ? " and " n - MOST_RIGHT " more" : "")
}

# The facts that part the cases in which VARIANT is wrong from those in which it is right.
function parted(variant,    i, side, n) {
    for (i = 1; i <= n_cases; i++)
        if ((cases[i], variant) in result) {
            side = result[cases[i], variant]
            note_case(side, shape[cases[i]])
            names_of[side] = names_of[side] " " cases[i] " "
            n[side]++
        }
    # Not every case is launched in a graph, nor large enough to tell how exact it is; and one that ended the program
    # is none of the wrong ones.
    if (!n["wrong"] || !n["right"] || in_a_graph || inexact || !(first in failed))
        return ""
    meant = meanings(names_of, n["wrong"] < n["right"] ? "wrong" : "right")
    return apart()
}

# A right output says this of a wrong one, in attention and its gradient.
function innocent(    i, name, wrong, seen) {
    for (i = 1; i <= taken; i++)
        if (match(kept[i], /^  [a-z]+: [0-9]+ of [0-9]+ elements wrong/)) {
            split(kept[i], name, /[: ]+/)
            wrong[name[2]] = name[3] + 0
            seen[name[2]] = 1
        }
    if (wrong["o"] && seen["lse"] && !wrong["lse"])
        return "lse is right, so a row's scores are, their order aside: what is wrong comes after them, up to the product with V\n"
    if (wrong["dq"] && seen["dk"] && !wrong["dk"])
        return "dk is right, so the dS that makes it is: what is wrong is on dq's own way: dS on its way to dq (where dq has a kernel of its own, also P and delta), its product with K, its rotation back if there is one, or the store\n"
    if (wrong["dk"] && seen["dq"] && !wrong["dq"])
        return "dq is right, so the dS that makes it is: what is wrong is on dk's own way: dS on its way to dk (where dk has a kernel of its own, also P and delta), its product with Q, its rotation back if there is one, or the store\n"
    if (wrong["lse"] && seen["o"] && !wrong["o"])
        return "o is right, so the sums of exponentials that divide it are: what is wrong is how lse is made of a maximum and such a sum, or how it is stored\n"
    if (wrong["dq"] && wrong["dk"] && seen["dv"] && !wrong["dv"])
        return "dv is right, so the P that makes it is: what is wrong comes after it, in dS or, where dq and dk are rotated back, in these rotations\n"
    return ""
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
            print "and " n_cases - MOST_CASES " more case" (n_cases - MOST_CASES == 1 ? "" : "s") ", all right"
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
    # An access out of bounds comes first, as races may follow from it.
    for (pass = 1; pass <= 2; pass++)
        for (i = 1; i <= taken; i++) {
            if ((pass == 1) != (kept[i] ~ /^ *(out of bounds: |variant )/ || !checks))
                continue
            print kept[i]
            if (more[i])
                print "      and " more[i] " more finding" (more[i] == 1 ? "" : "s") " at these lines of yours"
        }
    for (i = 1; i <= n_failed; i++)
        if (order[i] != first) {
            split(order[i], word, " ")
            if (++others <= 3)
                names = names (others > 1 ? ", " : "") word[2] " in " word[1]
        }
    if (!checks)
        printf "%s%s", innocent(), parted(substr(first, index(first, " ") + 1))
    right = checks ? "" : right_ones()
    if (others)
        print "fails too: " names (others > 3 ? " and " others - 3 " more" : "") \
            (right == "" ? "" : "; passes: " right)
    else if (right != "")
        print "passes: " right
    printf "%s", meant
}
