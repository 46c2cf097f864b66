# cost.awk RECORDED COUNTS: does a program cost more than its task allows? RECORDED are the counts of the
# step's own solution (plots/data/cpu/), COUNTS those of the program, counted the same way. -v all=1: each
# variant of a case that was run had to run (no --variant left one out). Prints one line per excess, the
# largest first. Exit 1: something costs more, 0: nothing does, 3: no row could be compared.
#
# Allowed are 1.5 times the recorded count, but only 1.2 times for global memory, barriers, shuffles and tests of a
# mask, 1.25 times for shared memory, and 1.1 times the bytes that copies to shared memory read; and on top a spare
# amount. Other right solutions differ by less: they load an
# element twice at an edge, keep a value elsewhere or add one sum more. A program that does the work twice, or
# reads 4 bytes in place of 8, differs by a factor of two. Spare are one request to global memory per block; a
# sixteenth of all requests for shared memory; five shuffles per warp; one exp, log, root or division per
# thread. Not one more is allowed of launches, matrix products and rotated rows: they are the subject of the
# steps.
# Less is always allowed, with three exceptions. Launches: the task says which kernels to fuse. Instructions
# that the task requests, such as launch_dependents in each kernel: without any of them the task is not done.
# Copies and products that a wait leaves in flight, and cache hints: two thirds are required, as a wait for
# more than is needed loses the overlap.
#
# Kernels with the same name are compared; then all kernels that only one side has, added up; then the whole
# variant. A kernel may take over work of a kernel that the program does not have.
BEGIN {
    FS = "\t"
    n_cost = split("launches threads barriers shuffles votes atomics global_ld_requests " \
        "global_ld_sectors global_st_requests global_st_sectors shared_ld_requests shared_ld_wavefronts " \
        "shared_st_requests shared_st_wavefronts sin cos exp log pow sqrt rsqrt div mma mma_flops " \
        "ldmatrix_wavefronts stmatrix_wavefronts cp_async_requests cp_async_sectors " \
        "cp_async_wavefronts cp_async_bytes wgmma wgmma_shared_bytes global_atomic_sectors global_atomic_elements " \
        "bulk_load_bytes bulk_store_bytes bulk_reduce_bytes early_launches K_rotations Q_rotations " \
        "dK_rotations dQ_rotations element_rotations table_loads revolutions_past_a_half mask_tests", cost, " ")
    n_traffic = split("global_ld_requests global_st_requests shared_ld_requests shared_st_requests " \
        "cp_async_requests", traffic, " ")
    split("barriers shuffles global_ld_requests global_ld_sectors global_st_requests " \
        "global_st_sectors mask_tests", names, " ")
    for (i in names)
        margin[names[i]] = 1.2
    split("ldmatrix_wavefronts cp_async_bytes bulk_load_bytes", names, " ")
    for (i in names)
        margin[names[i]] = 1.1
    split("shared_ld_requests shared_ld_wavefronts shared_st_requests shared_st_wavefronts " \
        "cp_async_requests", names, " ")
    for (i in names)
        margin[names[i]] = 1.25
    split("launches early_launches mma mma_flops wgmma K_rotations Q_rotations dK_rotations " \
        "dQ_rotations", names, " ")
    for (i in names)
        margin[names[i]] = 1
    split("launches early_launches barriers ldmatrix_wavefronts sin cos pow mma mma_flops wgmma " \
        "K_rotations Q_rotations dK_rotations dQ_rotations element_rotations table_loads " \
        "revolutions_past_a_half mask_tests cp_async_bytes bulk_load_bytes", names, " ")
    for (i in names)
        nothing_spare[names[i]] = 1
    split("exp log sqrt rsqrt div", names, " ")
    for (i in names)
        one_a_thread[names[i]] = 1
    n_asked = split("launches shared_st_requests pow mma wgmma cp_async_requests " \
        "bulk_load_requests bulk_store_requests bulk_reduce_requests bulk_read_waits", asked, " ")
    split("launch_dependents early_launches", of_each, " ")
    split("cp_async_left_groups bulk_left_groups wgmma_left_groups cache_hints", kept, " ")
    MARGIN = 1.5
    MOST = 5
}

FNR == 1 {
    file++
    columns = 0
}

/^#/ { next }

!columns {
    columns = NF
    for (i = 1; i <= NF; i++)
        column[i] = $i
    next
}

{
    where = $2 FS $3
    if (!(where in seen))
        seen[where] = 0
    if (!((file, where) in has)) {
        has[file, where] = 1
        if (file == 1)
            own[++n_own] = where
    }
    if (file == 2)
        case_ran[$3] = 1
    if (!((where, $4) in known)) {
        known[where, $4] = 1
        kernel[where, ++kernels[where]] = $4
    }
    for (i = 5; i <= columns; i++) {
        value[file, where, $4, column[i]] += $i
        value[file, where, "", column[i]] += $i
    }
}

# The spare amount of a counter, in a kernel of the step's own solution (or in all: "").
function spare(name, at, k,    i, sum) {
    if (name in nothing_spare)
        return 0
    if (name ~ /^global_(ld|st)_/)
        return value[1, at, k, "blocks"] * (name ~ /_sectors$/ ? 4 : 1)
    if (name == "shuffles")
        return 5 * value[1, at, k, "threads"] / 32
    if (name in one_a_thread)
        return value[1, at, k, "threads"] + 0
    for (i = 1; i <= n_traffic; i++)
        sum += value[1, at, k, traffic[i]]
    return sum / 16 * (name ~ /_bytes$/ ? 32 : 1)
}

# Keeps the worst case of each kernel and counter of a variant.
function note(at, k, name, theirs, ours,    part, key, ratio) {
    split(at, part, FS)
    key = part[1] FS k FS name
    ratio = ours > 0 ? theirs / ours : 1e6 * theirs
    if (key in worst && worst[key] >= ratio)
        return
    if (!(key in worst))
        found[++n_found] = key
    worst[key] = ratio
    line[key] = sprintf("  costs more: variant %s, case %s, %s: %s %d, the step's own %d%s", part[1],
        part[2], k == "" ? "all kernels" : k == "other" ? "kernels of other names" : "kernel " k, name,
        theirs, ours, ours > 0 ? sprintf(" (%.3g times)", ratio) : "")
}

# True if a count exceeds the allowed one; `moved` is the work of the step's kernels that the program does not
# have.
function dear(at, k, name, moved) {
    return value[2, at, k, name] > \
        (name in margin ? margin[name] : MARGIN) * (value[1, at, k, name] + moved) + spare(name, at, k)
}

function compare(at,    i, j, k, name, dear_kernels, others) {
    split("", gone)
    for (j = 1; j <= kernels[at]; j++) {
        k = kernel[at, j]
        here = value[2, at, k, "launches"] > 0
        ours = value[1, at, k, "launches"] > 0
        if (here == ours)
            continue
        for (i = 1; i <= n_cost; i++)
            value[here ? 2 : 1, at, "other", cost[i]] += value[here ? 2 : 1, at, k, cost[i]]
        value[here ? 2 : 1, at, "other", "blocks"] += value[here ? 2 : 1, at, k, "blocks"]
        value[here ? 2 : 1, at, "other", "threads"] += value[here ? 2 : 1, at, k, "threads"]
    }
    for (i = 1; i <= n_cost; i++) {
        name = cost[i]
        some = 0
        for (j = 1; j <= kernels[at]; j++) {
            k = kernel[at, j]
            if (value[2, at, k, "launches"] > 0 && value[1, at, k, "launches"] > 0 &&
                dear(at, k, name, value[1, at, "other", name])) {
                note(at, k, name, value[2, at, k, name], value[1, at, k, name])
                some = 1
            }
        }
        if (value[1, at, "other", "launches"] > 0 && dear(at, "other", name, 0)) {
            note(at, "other", name, value[2, at, "other", name], value[1, at, "other", name])
            some = 1
        }
        if (!some && dear(at, "", name, 0))
            note(at, "", name, value[2, at, "", name], value[1, at, "", name])
    }
    for (i = 1; i <= n_asked; i++) {
        name = asked[i]
        if (value[1, at, "", name] > 0 && value[2, at, "", name] == 0)
            missing(at, name, "")
    }
    for (j = 1; j <= kernels[at]; j++) {
        k = kernel[at, j]
        for (i in of_each)
            if (value[2, at, k, "launches"] > 0 && value[1, at, k, of_each[i]] > 0 &&
                !value[2, at, k, of_each[i]])
                missing(at, of_each[i], k)
    }
    if (value[2, at, "", "launches"] < value[1, at, "", "launches"])
        missing(at, "launches", "")
    for (i in kept)
        if (value[2, at, "", kept[i]] * MARGIN < value[1, at, "", kept[i]])
            few(at, kept[i])
}

function few(at, name,    part, key) {
    split(at, part, FS)
    key = part[1] FS "" FS name " few"
    if (key in worst)
        return
    found[++n_found] = key
    worst[key] = 1e200
    line[key] = sprintf("  %s: variant %s, case %s: %s %d, the step's own %d",
        name ~ /groups$/ ? "waits for more" : "left out", part[1], part[2], name,
        value[2, at, "", name], value[1, at, "", name])
}

function missing(at, name, k,    part, key) {
    split(at, part, FS)
    key = part[1] FS k FS name " missing"
    if (key in worst)
        return
    found[++n_found] = key
    worst[key] = 1e300
    line[key] = sprintf("  left out: variant %s, case %s%s: %s %d, the step's own %d", part[1], part[2],
        k == "" ? "" : ", kernel " k, name, value[2, at, k, name], value[1, at, k, name])
}

END {
    for (w = 1; w <= n_own; w++) {
        at = own[w]
        split(at, part, FS)
        if ((2, at) in has) {
            compared++
            compare(at)
        } else if (all && part[2] in case_ran) {
            compared++
            missing(at, "launches", "")
        }
    }
    if (!compared)
        exit 3
    for (i = 2; i <= n_found; i++)
        for (j = i; j > 1 && worst[found[j]] > worst[found[j - 1]]; j--) {
            key = found[j]
            found[j] = found[j - 1]
            found[j - 1] = key
        }
    for (i = 1; i <= n_found && i <= MOST; i++)
        print line[found[i]]
    if (n_found > MOST)
        printf "  and %d more\n", n_found - MOST
    exit n_found > 0
}
