# profile.awk METRICS LAUNCHES NCU ROWS: ncu's counts, one row per variant and case.
#   METRICS  profile.txt             LAUNCHES  variant, case and number of launches (--launches)
#   NCU      the output of ncu.awk   ROWS      the program's rows (--out), for the shapes
# -v kernels=REGEX: only launches of kernels with such names. -v each=1: also one row per launch, with its
# number and its kernel's name.
# Beside ncu's counts stand sums of bytes (l1, l2 and dram: read and written), and three numbers to divide by:
# tensor, the bytes of q or of k in fp32, whichever is larger; pairs, those of its pairs that RoPE rotates;
# pairs32, groups of 32 of these, one pair per lane.
BEGIN { FS = "\t" }

function fail(message) {
    print "profile: " message >"/dev/stderr"
    failed = 1
    exit 1
}

# "void attention_v1<1, 0>(const float *, ...)" is attention_v1.
function base(name) {
    sub(/[<(].*/, "", name)
    sub(/.* /, "", name)
    return name
}

# Some awks print large whole numbers as 3.9e+09.
function exact(value) {
    return value == "-" ? value : sprintf(value + 0 == int(value) ? "%.0f" : "%.6g", value)
}

function print_row(key, kernel, n, value,    i, part) {
    split(key, part, SUBSEP)
    printf "%s\t%s\t%s\t%s\t%d", shape[part[2]], part[1], part[2], kernel, n
    for (i = 1; i <= metrics; i++)
        printf "\t%s", n == 1 || ncu_name[i] ~ /[.]sum$/ ? exact(value[i]) : "-"
    printf "\t%s\t%s\t%s\n", bytes("l1", 32, value), bytes("l2", 32, value), bytes("dram", 1, value)
}

# The value that ncu has given for "a", or the sum for "a+b".
function sum_of(names,    part, n, i, sum) {
    n = split(names, part, "+")
    for (i = 1; i <= n; i++) {
        if (!(part[i] in given) || given[part[i]] == "-")
            return "-"
        sum += given[part[i]]
    }
    return n == 1 ? given[names] : sum
}

function bytes(level, unit, value,    in_, out) {
    in_ = value[index_of[level "_ld"]]
    out = value[index_of[level "_st"]]
    return in_ == "-" || out == "-" ? "-" : sprintf("%.0f", unit * (in_ + out))
}

FNR == 1 { file++ }

file == 1 {
    if ($0 !~ /^#/ && split($0, word, " ") > 1) {
        short[++metrics] = word[1]
        ncu_name[metrics] = word[2]
        index_of[word[1]] = metrics
        factor[metrics] = 3 in word ? word[3] : 1
    }
    next
}

file == 2 {
    for (i = 0; i < $3; i++)
        owner[++expected] = $1 SUBSEP $2
    next
}

file == 3 {
    seen++
    line[seen] = $0
    next
}

/^#/ { next }

!named {
    named = 1
    for (i = 1; i <= NF; i++)
        at[$i] = i
    next
}

{
    rows = $at["Sq"] > $at["Sk"] ? $at["Sq"] : $at["Sk"]
    all = $at["B"] * $at["H"] * rows
    shape[$at["case"]] = $at["step"] "\t" 4 * all * $at["D"] "\t" all * $at["R"] / 2 "\t" all * $at["R"] / 64
}

END {
    if (failed)
        exit 1
    if (seen != expected)
        fail("ncu saw " seen + 0 " launches, and the program made " expected + 0)
    printf "step\ttensor\tpairs\tpairs32\tvariant\tcase\tkernel\tlaunches"
    for (i = 1; i <= metrics; i++)
        printf "\t%s", short[i]
    print "\tl1\tl2\tdram"
    for (n = 1; n <= expected; n++) {
        count = split(line[n], cell, "\t")
        if (kernels != "" && base(cell[2]) !~ kernels)
            continue
        key = owner[n]
        if (!(key in launches))
            order[++keys] = key
        launches[key]++
        split("", given)
        for (i = 3; i <= count; i++) {
            split(cell[i], pair, "=")
            given[pair[1]] = pair[2]
        }
        for (i = 1; i <= metrics; i++) {
            one[i] = sum_of(ncu_name[i])
            if (one[i] != "-" && factor[i] != 1)
                one[i] *= factor[i]
            total[key, i] = one[i] == "-" || total[key, i] == "-" ? "-" : total[key, i] + one[i]
        }
        if (each)
            print_row(key, launches[key] "-" base(cell[2]), 1, one)
    }
    if (!keys)
        fail("no launch of a kernel " kernels)
    for (k = 1; k <= keys; k++) {
        for (i = 1; i <= metrics; i++)
            one[i] = total[order[k], i]
        print_row(order[k], "all", launches[order[k]], one)
    }
}
