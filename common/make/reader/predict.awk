# predict.awk FIGURES ANSWERS: sets answers beside what was seen, for predict.sh. FIGURES has a line a question: the ten
# fields of --questions, then figure and device three times: seen just now, and recorded in two files. ANSWERS are
# lines of work/predictions.tsv; they are written to the file -v out, with what was seen. -v cpu=1: nothing is timed here,
# so a time is compared with the book's. What else was not seen is left for the command that shows it.
BEGIN { OFS = "\t" }

FILENAME == ARGV[1] {
    q = ++n
    text[q] = $10
    unit[q] = $9 == "-" ? "" : " " $9
    timed[q] = $1 ~ /_us|^ratio|^limit/
    verified[q] = $1 ~ /^(wrong|nan|max_err)$/
    for (i = 11; i < NF; i += 2)
        if ($i != "-") {
            if (i == 11) { seen[q] = $i; seen_on[q] = $(i + 1) }
            else { book[q] = $i; book_on[q] = $(i + 1) }
        }
    next
}

function short(value) {
    if (value !~ /^[-+.0-9e]+$/)
        return value
    return sprintf(value == int(value) || value >= 1000 ? "%.0f" : "%.4g", value)
}

function how_far(answer, low, high, fact,    times) {
    if (low == "-")
        return answer == fact ? "right" : "not so"
    if (low + 0 <= fact + 0 && fact + 0 <= high + 0)
        return "within your range"
    if (answer > 0 && fact > 0) {
        times = answer > fact ? answer / fact : fact / answer
        return sprintf("outside your range, %.2f times too %s", times, answer + 0 > fact + 0 ? "high" : "low")
    }
    return "outside your range, off by " short(answer > fact ? answer - fact : fact - answer)
}

$9 != text[$2] { next } # a question that the step no longer has

{
    q = $2
    if (!said++)
        print "\nYour predictions:"
    fact = (q in seen) ? seen[q] : cpu && timed[q] ? book[q] : ""
    printf "  %s\n    yours %s%s%s; ", text[q], short($4), unit[q], $5 == "-" ? "" : " (" short($5) " to " short($6) ")"
    if (q in book && fact != "")
        printf "the book's %s%s (%s); ", short(book[q]), unit[q], book_on[q]
    if (q in seen)
        printf "seen here %s%s", short(seen[q]), unit[q]
    else if (fact != "")
        printf "not seen here, as it is a time on a GPU"
    else
        printf "make step-%s %s shows it", $1, timed[q] || verified[q] ? "run" : "count"
    print fact == "" ? "" : "\n    " how_far($4, $5, $6, fact)
    # The first comparison is what counts.
    if ($7 == "-" && fact != "") {
        $7 = fact
        $8 = (q in seen) ? seen_on[q] : book_on[q]
    }
    print $1, $2, $3, $4, $5, $6, $7, $8, $9 >out
}
