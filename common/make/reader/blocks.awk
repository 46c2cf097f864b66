# blocks.awk RECORDED BLOCKS: do blocks ask for more shared memory than those of the step's own solution, so that
# fewer of them fit on a multiprocessor? Both files are by KF_CAPTURE=1 and --blocks: a row for all launches of a
# variant in a case whose blocks are alike. Compared are blocks of as many threads. A variant that has several kinds of
# blocks of as many threads is compared by the kind of which the fewest fit. Prints a line for each variant, of its
# worst case. Exit 1: fewer fit, 0: not so.
BEGIN { FS = "\t" }

FNR == 1 { file++ }
/^#/ || $1 == "variant" { next }

{
    at = $1 FS $2 FS $4
    if (!((file, at) in fit) || $6 < fit[file, at]) {
        fit[file, at] = $6
        bytes[file, at] = $5
    }
    if (file == 2 && !(at in seen)) {
        seen[at]
        order[++n] = at
    }
}

END {
    for (k = 1; k <= n; k++) {
        at = order[k]
        if (!((1, at) in fit) || fit[2, at] >= fit[1, at])
            continue
        split(at, part, FS)
        ratio = fit[1, at] / (fit[2, at] > 0 ? fit[2, at] : 0.5)
        if (part[1] in worst && ratio <= worst[part[1]])
            continue
        if (!(part[1] in worst))
            found[++n_found] = part[1]
        worst[part[1]] = ratio
        line[part[1]] = sprintf("  costs more: variant %s, case %s: shared memory %d bytes per block of %d " \
            "threads, the step's own %d: %d blocks fit on a multiprocessor, not %d", part[1], part[2],
            bytes[2, at], part[3], bytes[1, at], fit[2, at], fit[1, at])
    }
    for (i = 1; i <= n_found; i++)
        print line[found[i]]
    exit n_found > 0
}
