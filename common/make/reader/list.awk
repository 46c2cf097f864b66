# list.awk STATES TASKS PREDICTIONS: what list.sh prints, with -v mode=text or json. STATES are states.sh's lines. TASKS
# are lines STEP NAME TASK; for what is still blank, STEP "blank" PLACE TASK; for json also STEP "changed" LINES.
# PREDICTIONS are the lines of work/predictions.tsv.
BEGIN {
    words["not-begun"] = "not begun"
    words["dear"] = "right, but dearer"
}

FNR == 1 { file += FILENAME != last; last = FILENAME }

FILENAME == ARGV[1] {
    steps[++n] = $1
    for (i = 2; i <= 18; i++)
        field[$1, i] = $i
    total += $7
    of_part[$3] += $7
    done[$9] += $7
    if ($9 == "right") right_of[$3] += $7
    tries += $12
    next
}

FILENAME == ARGV[2] && $2 == "blank" {
    blank[$1, $4] = 1
    first_blank[$1] = first_blank[$1] (first_blank[$1] == "" ? "" : ", ") $3
    next
}

FILENAME == ARGV[2] && $2 == "changed" {
    changed[$1] = $3
    next
}

FILENAME == ARGV[2] {
    name[$1, ++names[$1]] = $2
    task[$1, names[$1]] = $3
    next
}

{ judge() }

# PREDICTIONS: STEP QUESTION DATE ANSWER LOW HIGH SEEN DEVICE TEXT; SEEN is "-" until it is known.
function judge() {
    asked++
    if ($7 == "-")
        return
    compared++
    if ($5 == "-") {
        kept += $4 == $7
        return
    }
    kept += $5 + 0 <= $7 + 0 && $7 + 0 <= $6 + 0
    if ($4 > 0 && $7 > 0)
        off[++n_off] = $4 > $7 ? $4 / $7 : $7 / $4
}

# The median of off[from] to off[to].
function median(from, to,    i, j, sorted, value) {
    for (i = from; i <= to; i++) {
        value = off[i]
        for (j = i - from; j > 0 && sorted[j] > value; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = value
    }
    i = to - from + 1
    return i % 2 ? sorted[(i + 1) / 2] : (sorted[i / 2] + sorted[i / 2 + 1]) / 2
}

function note_of(step,    state, text) {
    state = field[step, 9]
    if (state == "right")
        text = field[step, 10]
    if (state == "wrong")
        text = "since " field[step, 10] (field[step, 18] == "-" ? "" : ", " field[step, 18])
    if (state == "dear")
        text = substr(field[step, 18], index(field[step, 18], ": ") + 2)
    if (state == "begun" && field[step, 18] != "-")
        text = field[step, 18]
    if (first_blank[step] != "" && (state == "begun" || state == "wrong"))
        text = text (text == "" ? "" : "; ") "blank: " first_blank[step]
    return text
}

function say_part(part) {
    printf "\n%s: %d of %d\n", part == "-" ? "Of no part" : "Part " part, right_of[part], of_part[part]
}

function say_predictions(    half) {
    if (!asked) {
        print "No prediction yet: make step-NN predict asks for one before you run a step."
        return
    }
    printf "Predictions: %d made, %d compared", asked, compared
    if (compared)
        printf ", %d of them within their range", kept
    half = int(n_off / 2)
    if (n_off >= 6)
        printf "; off by %.2f times in the first half of them, by %.2f in the second (medians)",
            median(1, half), median(half + 1, n_off)
    else if (n_off)
        printf "; off by %.2f times (median)", median(1, n_off)
    print "."
}

function quote(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

function json_counts(text,    n, part, pair, i, out) {
    if (text == "-" || text == "")
        return "null"
    n = split(text, part, ",")
    for (i = 1; i <= n; i++) {
        split(part[i], pair, "=")
        out = out (i > 1 ? ", " : "") quote(pair[1]) ": " pair[2]
    }
    return "{" out "}"
}

function or_null(text) {
    return text == "-" || text == "" ? "null" : quote(text)
}

function json(    i, j, step, state, first) {
    printf "{\"date\": %s, \"commit\": %s,\n", quote(date), quote(commit)
    printf " \"exercises\": %d, \"right\": %d, \"dear\": %d, \"wrong\": %d, \"begun\": %d, \"skipped\": %d,\n",
        total, done["right"], done["dear"], done["wrong"], done["begun"], done["skipped"]
    printf " \"predictions\": {\"made\": %d, \"compared\": %d, \"within\": %d},\n \"list\": [", asked, compared, kept
    for (i = 1; i <= n; i++)
        for (j = 1; j <= names[steps[i]]; j++) {
            step = steps[i]
            state = field[step, 9]
            if ((step, task[step, j]) in blank)
                state = "not-begun"
            printf "%s\n  {\"step\": %s, \"exercise\": %s, \"state\": %s, \"since\": %s, \"tried\": %s, \"tries\": %d,",
                first++ ? "," : "", quote(step "-" field[step, 2]), quote(name[step, j]), quote(state),
                or_null(field[step, 10]), or_null(field[step, 11]), field[step, 12]
            printf " \"seed\": %s, \"device\": %s, \"commit\": %s,", or_null(field[step, 13]),
                or_null(field[step, 14]), or_null(field[step, 15])
            printf " \"changed\": %d, \"cost\": %s, \"counts\": %s}", changed[step],
                or_null(field[step, 16]), json_counts(field[step, 17])
        }
    print "\n ]}"
}

END {
    if (mode == "json") {
        json()
        exit
    }
    for (i = 1; i <= n; i++) {
        step = steps[i]
        if (field[step, 3] != part) {
            part = field[step, 3]
            say_part(part)
        }
        state = field[step, 9]
        line = sprintf("  step-%s  %-20s %2d  %-18s %s", step, field[step, 2], field[step, 7],
            state in words ? words[state] : state, note_of(step))
        sub(/ +$/, "", line)
        print line
    }
    printf "\n%d of %d exercises are right", done["right"], total
    if (done["dear"]) printf ", %d right but dearer than allowed", done["dear"]
    if (done["wrong"]) printf ", %d wrong", done["wrong"]
    if (done["begun"]) printf ", %d begun", done["begun"]
    if (done["skipped"]) printf ", %d skipped", done["skipped"]
    print done["right"] + done["skipped"] < total ? ". make next: the next one." : "."
    say_predictions()
}
