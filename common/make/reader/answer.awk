# answer.awk: what a reader has typed as a prediction, one line, as "ANSWER LOW HIGH", parted by tabs; nothing if it is
# none. Right are "1.5 +- 0.3", "1.5 +- 20%", "1.2 to 1.8", "1.5" (which is taken as +- 10 %), a unit behind it.
# -v among="a b c": right is one of these words, and LOW and HIGH are "-".
{
    gsub(/\t/, " ")
    gsub(/±/, "+-")
    gsub(/^ +| +$/, "")
}

among != "" {
    n = split(among, word, " ")
    for (i = 1; i <= n; i++)
        if (word[i] == $0) print $0 "\t-\t-"
    exit
}

{
    while (match($0, /[0-9],[0-9][0-9][0-9]([^0-9]|$)/)) # of thousands
        $0 = substr($0, 1, RSTART) substr($0, RSTART + 2)
    if (/,/) exit
    number = "[0-9]*[.]?[0-9]+(e[-+]?[0-9]+)?"
    if (match($0, "^" number))
        first = substr($0, 1, RLENGTH)
    else
        exit
    # "16k" would be taken for 16, "0x10" for 0, "1.5 bis 2" for 1.5.
    unit = "( *[a-zA-Zµ/]+)?"
    range = "( *([+]- *" number "( *%|" unit ")|(to|[.][.]|-) *" number unit "))?"
    if ($0 !~ "^" number unit range "$" || $0 ~ "^" number " *[kKMG](i?B)?( |$)" ||
        / (to|or)$/ || first + 0 > 1e300) exit
    if (match($0, "(to|[.][.]|-) *" number) && $0 !~ /[+]-/) {
        last = substr($0, RSTART, RLENGTH)
        sub(/^(to|[.][.]|-) */, "", last)
        if (last + 0 < first + 0) exit
        print (first + last) / 2 "\t" first + 0 "\t" last + 0
    } else if (match($0, "[+]- *" number)) {
        spread = substr($0, RSTART + 2, RLENGTH - 2) + 0
        if ($0 ~ /%/) spread *= first / 100
        print first + 0 "\t" first - spread "\t" first + spread
    } else
        print first + 0 "\t" first * 0.9 "\t" first * 1.1
    exit
}
