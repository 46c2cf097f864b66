# shapes.awk: a part of try.awk: what sets the cases in which a variant is wrong apart from those in which it is right.
# A case is the line "case NAME: B=1 H=2 Sq=3 Sk=41 D=64 R=16 pos0=5 causal".

# Reads the line of a case into SHAPE, where a missing R or pos0 is 0 and S is both Sq and Sk.
function read_shape(line, shape,    n, field, pair, i) {
    split("", shape)
    n = split(line, field, " ")
    for (i = 3; i <= n; i++) {
        split(field[i], pair, "=")
        if (pair[1] == "S")
            shape["Sq"] = shape["Sk"] = pair[2] + 0
        else
            shape[pair[1]] = field[i] ~ /=/ ? pair[2] + 0 : 1
    }
}

function compared(a, b) { return a < b ? "<" : a > b ? ">" : "=" }

# Keeps what the cases of one side (SIDE is "wrong" or "right") say of FACT: its value, or "" where they differ.
function note_fact(side, fact, value) {
    if (!((side, fact) in fact_of))
        fact_of[side, fact] = value
    else if (fact_of[side, fact] != value)
        fact_of[side, fact] = ""
}

function note_number(side, key, value) {
    if (!((side, key) in least) || value < least[side, key])
        least[side, key] = value
    if (!((side, key) in greatest) || value > greatest[side, key])
        greatest[side, key] = value
}

# note_case(SIDE, LINE): counts a case in. With one key its probability is 1 whatever the scores: that it is right says
# nothing.
function note_case(side, line,    shape, i) {
    read_shape(line, shape)
    if (side == "right" && shape["Sk"] == 1) {
        left_out = 1
        return
    }
    noted[side]++
    note_fact(side, "causal", shape["causal"] ? "causal" : "not causal")
    note_fact(side, "pos0", shape["pos0"] + 0 > 0 ? "pos0 > 0" : "pos0 = 0")
    note_fact(side, "R", "R " compared(shape["R"] + 0, shape["D"]) " D")
    note_fact(side, "Sq", "Sq " compared(shape["Sq"], shape["Sk"]) " Sk")
    for (i = 1; i <= 6; i++)
        note_number(side, NUMBER[i], shape[NUMBER[i]] + 0)
    for (i = 2; i <= 256; i *= 2)
        note_fact(side, "D" i, shape["D"] % i ? "no multiple" : "a multiple")
}

function sides(wrong, right) {
    return "every wrong case: " wrong "; every right one" (left_out ? " of more than one key" : "") ": " right "\n"
}

# The facts that hold in every wrong case and in no right one, a line each, two at most.
# With fewer than two cases on a side it would be chance.
function apart(    i, n, f, text, fact, key) {
    if (noted["wrong"] < 2 || noted["right"] < 2)
        return ""
    n = split("causal pos0 R Sq", fact, " ")
    for (i = 1; i <= n && f < 2; i++) {
        key = fact[i]
        if (fact_of["wrong", key] != "" && fact_of["right", key] != "" && fact_of["wrong", key] != fact_of["right", key]) {
            text = text sides(fact_of["wrong", key], fact_of["right", key])
            f++
        }
    }
    for (i = 1; i <= 6 && f < 2; i++) {
        key = NUMBER[i]
        if (!(("wrong", key) in least) || !(("right", key) in least))
            continue
        if (least["wrong", key] > greatest["right", key])
            text = text sides(key " >= " least["wrong", key], key " <= " greatest["right", key])
        else if (greatest["wrong", key] < least["right", key])
            text = text sides(key " <= " greatest["wrong", key], key " >= " least["right", key])
        else
            continue
        f++
    }
    for (i = 2; i <= 256 && !f; i *= 2)
        if (fact_of["wrong", "D" i] == "no multiple" && fact_of["right", "D" i] == "a multiple")
            return sides("D is no multiple of " i, "it is")
    return text
}

# Of the side with fewer cases, words of names that no case of the other side has, with their meaning: three at most.
# names[SIDE] has the names of its cases, each between blanks.
function meanings(names, few,    many, i, word, found, text) {
    many = few == "wrong" ? "right" : "wrong"
    for (i = 1; i <= n_meanings && found < 3; i++) {
        word = substr(MEANING[i], 1, index(MEANING[i], ":") - 1)
        if (has_word(names[few], word) && !has_word(names[many], word)) {
            text = text "  " MEANING[i] "\n"
            found++
        }
    }
    return text
}

function has_word(names, word) {
    gsub(/one-key-more/, "", names)
    gsub(/-/, "- -", names) # so that a word has an end of its own on either side
    gsub(/-/, "- -", word)
    return names ~ "[ -]" word "[ -]"
}

BEGIN {
    split("Sk Sq D R H B", NUMBER, " ")
    # The inputs of a case, by a word of its name; common/problems/flash.h and attention.h make them.
    n_meanings = split("ones: v is 1, so only the sum of a row's probabilities shows|" \
        "one-hot: a query gives one key all of its probability, so a row of o is a row of v|" \
        "integers: a query gives 1, 2, 4 or 8 keys the same probability, and the others none|" \
        "rising: scores grow with the key, so each tile raises the row maximum|" \
        "falling: scores fall with the key, so the first tile has the row maximum|" \
        "steep: queries are 64 times as large, so one key has most of the probability|" \
        "negative: all scores are near -128|" \
        "outliers: some keys are 4 times as large, and their values 32 times|" \
        "one-key: there is one key, and its probability is 1|" \
        "no-key: some queries see no key", MEANING, "|")
}
