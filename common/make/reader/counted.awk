# counted.awk RECORDED COUNTS: where a variant is wrong, how its counts differ from those of the step's own, in the
# cases that COUNTS has: a loop that runs too often, or blocks that are missing, show there. One line, of at most
# three counters of one kernel, or nothing. Kernels that only one side has are not compared.
BEGIN {
    FS = "\t"
    MOST = 3
}

FNR == 1 { file++; columns = 0 }
/^#/ { next }

!columns {
    columns = NF
    for (i = 1; i <= NF; i++)
        name[file, i] = $i
    next
}

file == 1 || ($2 FS $3 FS $4) in own {
    if (file == 2 && !(($2 FS $3 FS $4) in yours))
        order[++n] = $2 FS $3 FS $4
    for (i = 5; i <= columns; i++)
        count[file, $2 FS $3 FS $4, name[file, i]] += $i
    if (file == 1)
        own[$2 FS $3 FS $4]
    else
        yours[$2 FS $3 FS $4]
}

# How far two counts are apart: 0 for what follows from another counter, or may differ between right solutions.
# Launches, blocks and threads are stated in the program, and say most. An exercise may take out a COUNT() with the
# lines around it.
function distance(counter, theirs, ours,    ratio) {
    if (theirs == ours || counter ~ /^local_|^cache_hints$|_(ld|st|async|atomic)_bytes$|_(sectors|wavefronts|conflicts)$/)
        return 0
    if (theirs < ours && counter ~ /rotations$|^table_loads$/)
        return 0
    if (counter ~ /^(launches|blocks|threads)$/)
        return 1e9
    if (!theirs || !ours)
        return 1e6
    ratio = theirs > ours ? theirs / ours : ours / theirs
    return ratio < 1.1 ? 0 : ratio
}

END {
    for (k = 1; k <= n; k++)
        for (i = 5; i <= columns; i++) {
            far = distance(name[2, i], count[2, order[k], name[2, i]], count[1, order[k], name[2, i]])
            if (far > worst) {
                worst = far
                at = order[k]
            }
        }
    if (!worst)
        exit
    split(at, part, FS)
    for (i = 5; i <= columns; i++) {
        theirs = count[2, at, name[2, i]]
        ours = count[1, at, name[2, i]]
        far = distance(name[2, i], theirs, ours)
        if (!far)
            continue
        for (j = ++found; j > 1 && apart[j - 1] < far; j--) {
            apart[j] = apart[j - 1]
            text[j] = text[j - 1]
        }
        apart[j] = far
        text[j] = name[2, i] " " theirs " (the step's own: " ours (theirs && ours ? sprintf(", %.3g times", theirs / ours) : "") ")"
    }
    line = "counted in this case: kernel " part[3] ":"
    for (j = 1; j <= found && j <= MOST; j++)
        line = line (j > 1 ? ", " : " ") text[j]
    print line
}
