# compare.awk METRICS LAUNCHES NCU COUNTS: the counts of the CPU backend beside the hardware's.
#   METRICS   metrics.txt             LAUNCHES  variant, case and number of launches (--launches);
#                                               0 if the device refuses the variant
#   NCU       the output of ncu.awk   COUNTS    rows of a program that counts
# -v rows=FILE: one row per counter is appended to the file. -v words=1: prints a table for a person.
# Launches are identified by their order; those of one kernel in one variant and case are added up, as the
# counts are. Then kernels with the same name are paired in the order of their first launch; if a launch
# through a pointer has hidden the name, all kernels are. Three things are not compared: plain_product of the
# CPU backend, in whose place the GPU has kernels of a library; memset and memcpy, which ncu does not list;
# and variants that the GPU program refused.
# A difference is a percentage of the GPU's count; for conflicts, a percentage of all wavefronts of the GPU,
# loads or stores. The GPU also counts as conflicts the few wavefronts that are lost because something else
# used the banks, so 63 of them where we count none are no difference of 100%.
BEGIN { FS = "\t" }

function fail(message) {
    print "count: " message >"/dev/stderr"
    failed = 1
    exit 1
}

# True if ncu has all metrics that a counter of ours is compared with; `sum` is then their sum.
function counted_by_gpu(what,    n, i, part, sign) {
    sum = 0
    gsub(/-/, "+-", what)
    n = split(what, part, "+")
    for (i = 1; i <= n; i++) {
        sign = sub(/^-/, "", part[i]) ? -1 : 1
        if (sign < 0 && !(part[i] in asked))
            continue # there was none to be taken off
        if ((part[i] in missing) || !((key, k, part[i]) in value))
            return 0
        sum += sign * value[key, k, part[i]]
    }
    return n
}

# The GPU's wavefronts, of which a count of conflicts is a part.
function passes(name) {
    sub(/_conflicts$/, "_wavefronts", name)
    return value[key, k, metric[name]] + 0
}

# A kernel's name without result type, namespaces, template arguments and parameters.
function bare(kernel) {
    sub(/[<(].*/, "", kernel)
    sub(/.*[ :]/, "", kernel)
    return kernel
}

FNR == 1 { file++ }

file == 1 {
    if ($0 !~ /^#/ && split($0, word, " ") > 1) {
        metric[word[1]] = word[2]
        n = split(word[2], part, /[+-]/)
        for (i = 1; i <= n; i++)
            wanted[part[i]] = 1
    }
    next
}

file == 2 {
    for (i = 0; i < $3; i++)
        owner[++expected] = $2 "\t" $1
    next
}

file == 3 {
    if (++seen > expected)
        next
    key = owner[seen]
    if (!((key, $2) in kernel)) {
        kernel[key, $2] = ++kernels[key]
        of_name[key, bare($2), ++gpu_names[key, bare($2)]] = kernels[key]
    }
    k = kernel[key, $2]
    value[key, k, "launches"]++
    for (i = 3; i <= NF; i++) {
        split($i, pair, "=")
        asked[pair[1]] = 1
        if (pair[2] == "-" && pair[1] in wanted)
            missing[pair[1]] = 1
        value[key, k, pair[1]] += pair[2]
    }
    next
}

/^#/ || $4 == "memset" || $4 == "memcpy" { next }

!named {
    if (seen != expected)
        fail("ncu saw " seen + 0 " launches, and the program made " expected + 0)
    named = NF
    for (i = 1; i <= NF; i++)
        column[i] = $i
    next
}

{
    key = $3 "\t" $2
    k = ++cpu_kernels[key]
    name = bare($4)
    if (name == "plain_product") {
        passed_over++
        next
    }
    named_alike = ++cpu_names[key, name]
    if ((key, name, 1) in of_name)
        k = (key, name, named_alike) in of_name ? of_name[key, name, named_alike] : kernels[key] + 1
    if (!(key in kernels)) {
        nowhere++
        next
    }
    if (k > kernels[key])
        fail("variant " $2 ", case " $3 ": ncu saw no kernel " $4)
    if (words)
        printf "\nvariant %s, case %s, kernel %s\n  %-24s %14s %14s %11s\n", $2, $3, $4, "counter", "cpu",
            "gpu", "difference"
    for (i = 5; i <= named; i++) {
        name = column[i]
        what = name == "launches" ? name : metric[name]
        if (what == "" || !counted_by_gpu(what))
            continue
        gpu = sum
        if (gpu == 0 && $i == 0)
            continue
        whole = name ~ /_conflicts$/ ? passes(name) : gpu
        difference = gpu == $i ? "0" : whole == 0 ? "-" : sprintf("%.3g", 100 * ($i - gpu) / whole)
        compared++
        equal += gpu == $i
        size = difference == "-" ? 1e9 : difference < 0 ? -difference : difference + 0
        if (size > worst) {
            worst = size
            where = name " of variant " $2 ", case " $3 ", kernel " $4
        }
        if (words)
            printf "  %-24s %14.0f %14.0f %10s%s\n", name, $i, gpu, difference,
                difference == "-" ? " " : "%"
        if (rows)
            printf "%s\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t%s\n", $1, $2, $3, $4, name, $i, gpu,
                difference >>rows
    }
}

END {
    if (failed)
        exit 1
    if (!compared)
        fail("nothing to compare: no row of counts")
    if (passed_over)
        print "count: plain_product is passed over, on a GPU it is a kernel of the library" >"/dev/stderr"
    if (nowhere)
        print "count: rows passed over, as the GPU program did not run their variant and case: " nowhere >"/dev/stderr"
    for (name in missing)
        print "count: ncu has no value for " name >"/dev/stderr"
    printf "\n%d of %d counts equal", equal, compared
    if (worst > 0)
        printf "; furthest apart: %s%s", where, worst < 1e9 ? sprintf(", by %.3g%%", worst) : ""
    print ""
}
