# verdicts.awk: compares the verdicts of two devices, from all their files of rows.
#   awk -f plots/verdicts.awk plots/data/ONE/step-??.tsv plots/data/OTHER/step-??.tsv
# counts, for each clock and for all, the rows that have a ratio on both; those with the same verdict, with
# a tie on one of the two, and reversed from wins to loses or back; and, of those that change, with a better and
# with a worse verdict on OTHER. With -v list=1 it prints each row whose
# verdict is not the same. The rule is that of book/weave.lua; a baseline has no verdict.

function verdict(ratio, low, high) {
    if (low <= 1 && high >= 1) return "ties"
    if (ratio >= 1.03) return "wins"
    return ratio <= 1 / 1.03 ? "loses" : "ties"
}

# The ordered kernels of step 26 are left out: on the H100 they were recorded before their tiles were aligned.
function is_older(step, variant) {
    return step == "26" && variant ~ /^(c-ordered|d-ordered-vector)$/
}

BEGIN {
    FS = OFS = "\t"
}

/^#/ { next }

$1 == "step" {
    delete at
    for (i = 1; i <= NF; i++) at[$i] = i
    folder = FILENAME
    sub(/\/[^\/]*$/, "", folder)
    if (!first) first = folder
    next
}

$at["ratio"] ~ /^[0-9.]/ && $at["status"] == "ok" {
    ratio = $at["ratio"]
    if (is_older($at["step"], $at["variant"])) next
    if (ratio == 1 && $at["ratio_p5"] == 1 && $at["ratio_p95"] == 1) next
    key = $at["step"] OFS $at["variant"] OFS $at["case"] OFS $at["clock"] OFS $at["l2"]
    says = verdict(ratio, $at["ratio_p5"], $at["ratio_p95"])
    if (folder == first) {
        ratios[key] = ratio
        verdicts[key] = says
    } else if (key in ratios) {
        was = verdicts[key]
        change = was == says ? "same" : was == "ties" || says == "ties" ? "tie" : "reversed"
        if (list && change != "same") print key, ratios[key], ratio, was, says
        order = index("loses ties wins", says) - index("loses ties wins", was)
        turn = order > 0 ? "better" : order < 0 ? "worse" : "neither"
        for (n = split($at["clock"] " all", clocks, " "); n; n--) {
            counted[clocks[n], change]++
            counted[clocks[n], turn]++
        }
    }
}

END {
    if (list) exit
    print "clock", "rows", "same", "tie", "reversed", "better", "worse"
    for (n = split("graph stream call sustained all", clocks, " "); n; n--) {
        clock = clocks[n]
        same = counted[clock, "same"] + 0
        tie = counted[clock, "tie"] + 0
        reversed = counted[clock, "reversed"] + 0
        if (same + tie + reversed)
            print clock, same + tie + reversed, same, tie, reversed,
            counted[clock, "better"] + 0, counted[clock, "worse"] + 0
    }
}
