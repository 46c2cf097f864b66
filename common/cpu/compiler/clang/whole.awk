# whole.awk: keeps copies of structures whole, in the text of clang's intermediate code.
#
# clang copies a structure by llvm.memcpy, and then splits the copy: a float4 would be loaded as four floats, by
# four requests. Here such a copy becomes loads and stores of vectors of bytes, as wide as those of a GPU, which
# no pass splits. An llvm.memset becomes such stores too.

# The value of an operand, without its attributes.
function value(operand)
{
    gsub(/(noundef|nonnull|noalias|nocapture|readonly|writeonly|dereferenceable(_or_null)?\([0-9]+\)|align [0-9]+) /, "", operand)
    sub(/^(i8\*|ptr|i8) /, "", operand)
    return operand
}
function alignment(operand)
{
    return sub(/^[^@%(]*align /, "", operand) ? operand + 0 : 1
}

# Sets argument[1...] to the arguments in the parentheses that open at position `at` of the text.
function arguments(text, at,    n, depth, c, from)
{
    n = 0
    from = at + 1
    for (depth = 0; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (c == "(" || c == "[" || c == "{")
            depth++
        else if (c == ")" || c == "]" || c == "}")
            depth--
        if (depth == 0 || (depth == 1 && c == ",")) {
            argument[++n] = substr(text, from, at - from)
            sub(/^ /, "", argument[n])
            from = at + 1
        }
        if (depth == 0)
            break
    }
    return n
}

# The operand for piece i of the memory at the pointer `base`. Before clang 15 pointers had types.
function place(base, name,    p)
{
    p = base
    if (i > 0) {
        p = id "." name i
        print "  " p " = getelementptr inbounds i8, " pointer " " base ", i64 " i * width dbg
    }
    if (pointer == "ptr")
        return "ptr " p
    print "  " id "." name "b" i " = bitcast i8* " p " to " type "*" dbg
    return type "* " id "." name "b" i
}

/^ *(tail )?call void @llvm\.mem(cpy|move|set)\./ {
    n = arguments($0, index($0, "("))
    bytes = argument[3]
    if (n != 4 || !sub(/^i64 /, "", bytes) || bytes !~ /^[1-9][0-9]*$/ || argument[4] != "i1 false") {
        print
        next
    }
    bytes += 0
    fills = /@llvm\.memset/
    if (fills && argument[2] !~ /^i8 -?[0-9]+$/) {
        print
        next
    }
    aligned = alignment(argument[1])
    if (!fills && alignment(argument[2]) < aligned)
        aligned = alignment(argument[2])
    for (width = 16; width > bytes || bytes % width; width /= 2)
        ;
    # A single piece may have any alignment. Several pieces are as wide as their known alignment.
    while (width < bytes && width > aligned)
        width /= 2
    pieces = bytes / width
    if (pieces > 16) {
        print
        next
    }
    pointer = argument[1] ~ /^i8\*/ ? "i8*" : "ptr"
    dbg = match($0, /, !dbg ![0-9]+/) ? substr($0, RSTART, RLENGTH) : ""
    if (/!annotation/)
        dbg = dbg ", !nosanitize !{}"
    type = "<" width " x i8>"
    to = value(argument[1])
    from = value(argument[2])
    id = "%whole." ++count
    if (aligned > width)
        aligned = width
    if (fills) {
        content = "<i8 " from
        for (i = 1; i < width; i++)
            content = content ", i8 " from
        content = content ">"
    }
    # clang would split a load that is stored; a freeze in between prevents that.
    for (i = 0; i < pieces && !fills; i++) {
        print "  " id ".l" i " = load " type ", " place(from, "f") ", align " aligned dbg
        print "  " id ".v" i " = freeze " type " " id ".l" i dbg
    }
    for (i = 0; i < pieces; i++)
        print "  store " type " " (fills ? content : id ".v" i) ", " place(to, "t") ", align " aligned dbg
    next
}

# Keeps clang from turning stores of zeros into a memset, and a loop of copies into a memcpy.
/^attributes #[0-9]+ = / { sub(/}$/, "\"no-builtin-memset\" \"no-builtin-memcpy\" }") }

# Drops #pragma unroll, as g++ does: the body of a loop must be the same code for all its rounds.
/, !llvm\.loop ![0-9]+/ { sub(/, !llvm\.loop ![0-9]+/, "") }

# The stores of -ftrivial-auto-var-init are not the program's: no instrument may see them.
/^ *store .*, !annotation / { $0 = $0 ", !nosanitize !{}" }

# Sine and cosine read no memory, so values need not be loaded again after them.
/ call (float|double) @(sin|cos)f?\(/ {
    sub(/\)( #[0-9]+)?(,|$)/, ") readnone nounwind,")
    sub(/,$/, "")
}
/ call void @sincosf?\(/ {
    n = arguments($0, index($0, "("))
    dbg = match($0, /, !dbg ![0-9]+/) ? substr($0, RSTART, RLENGTH) : ""
    id = "%whole." ++count
    for (i = 1; i <= n; i++)
        gsub(/(noundef|nonnull|align [0-9]+|dereferenceable\([0-9]+\)) /, "", argument[i])
    type = argument[1]
    sub(/ .*/, "", type)
    f = type == "float" ? "f" : ""
    print "  " id ".s = call " type " @sin" f "(" argument[1] ") readnone nounwind" dbg
    print "  " id ".c = call " type " @cos" f "(" argument[1] ") readnone nounwind" dbg
    print "  store " type " " id ".s, " argument[2] dbg
    print "  store " type " " id ".c, " argument[3] dbg
    wanted["sin" f] = wanted["cos" f] = type
    next
}
/^declare .* @(sin|cos)f?\(/ {
    match($0, /@[a-z]+/)
    declared[substr($0, RSTART + 1, RLENGTH - 1)] = 1
}
{ print }
END {
    for (f in wanted)
        if (!(f in declared))
            print "declare " wanted[f] " @" f "(" wanted[f] ")"
}
