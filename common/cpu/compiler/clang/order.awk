# order.awk: orders the basic blocks of each function, in the text of clang's intermediate code. Each block
# comes after its predecessors, and a loop has no other blocks between its own. The counts of a warp depend on
# the order (count.c); clang's own order depends on what may run faster.
#
#   awk -f order.awk NAMES CODE    NAMES has lines "OLD NEW": functions whose calls are renamed
FNR == NR { new_name["@" $1] = "@" $2; next }

function renamed(text,    done, name)
{
    while (match(text, /@[A-Za-z_][A-Za-z_0-9.$]*/)) {
        name = substr(text, RSTART, RLENGTH)
        done = done substr(text, 1, RSTART - 1) (name in new_name ? new_name[name] : name)
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

# Turns the numbers of unnamed values into names, since numbers would have to be in order. (Lines with the
# text of strings never come here.)
function named(text,    done)
{
    while (match(text, /%[0-9]/)) {
        done = done substr(text, 1, RSTART) "v"
        text = substr(text, RSTART + 1)
    }
    return renamed(done text)
}

# Turns an intrinsic that copies or fills memory into a call of the C library's function, under the name that
# leads to the instrument.
function called(line,    what, pointer)
{
    match(line, /@llvm\.mem[a-z]+/)
    what = substr(line, RSTART + 6, RLENGTH - 6)
    pointer = line ~ /\(i8\*/ ? "i8*" : "ptr"
    sub(/call void @llvm\.[a-z0-9.]+/, "call " pointer " @cpu_trace_" what, line)
    sub(/, i1 false\)/, ")", line)
    line = named(line)
    if (what == "memset" && match(line, /, i8 [^,]+,/)) {
        code[blocks, ++lines[blocks]] = "  %filled." ++fills " = zext i8 " \
            substr(line, RSTART + 5, RLENGTH - 6) " to i32"
        line = substr(line, 1, RSTART - 1) ", i32 %filled." fills substr(line, RSTART + RLENGTH - 1)
    }
    calls["@cpu_trace_" what] = pointer " @cpu_trace_" what "(" pointer ", " \
        (what == "memset" ? "i32" : pointer) ", i64)"
    return line
}

# The bytes of a type; 0 if no load has that type.
function bytes_of(type,    n)
{
    if (type ~ /^</) {
        n = substr(type, 2) + 0
        sub(/^<[0-9]+ x /, "", type)
        sub(/>$/, "", type)
        return n * bytes_of(type)
    }
    if (type ~ /^i[0-9]+$/)
        return int((substr(type, 2) + 7) / 8)
    return type == "float" ? 4 : type == "double" || type ~ /(^ptr|\*)$/ ? 8 : type == "half" ? 2 : 0
}

# Adds the calls that clang leaves out for a local array whose address becomes an integer, as it does for the
# products of a warpgroup (wgmma). clang assumes that nobody else sees such an array, if only the address of its
# beginning is passed on.
function hold(    b, k, line, p, type, n, name, traced, dbg, pointer)
{
    split("", root)
    split("", held)
    for (b = 1; b <= blocks; b++)
        for (k = 1; k <= lines[b]; k++) {
            line = code[b, k]
            if (line ~ / = alloca /)
                root[first_of(line)] = first_of(line)
            else if (line ~ / = (bitcast|getelementptr) /) {
                p = line
                sub(/^[^=]*=/, "", p)
                while (match(p, /%[-a-zA-Z$._0-9]+/)) {
                    name = substr(p, RSTART, RLENGTH)
                    if (name in root) {
                        root[first_of(line)] = root[name]
                        break
                    }
                    p = substr(p, RSTART + RLENGTH)
                }
            } else if (line ~ / = ptrtoint /) {
                sub(/ to i[0-9]+.*/, "", line)
                if (last_of(line) in root)
                    held[root[last_of(line)]] = 1
            }
        }
    for (b = 1; b <= blocks; b++) {
        text[b] = label_of[b]
        traced = 0
        for (k = 1; k <= lines[b]; k++) {
            line = code[b, k]
            if (!traced && line ~ /^ *([^ ]+ = load|store) [^v]/ && line !~ /!nosanitize/) {
                p = line
                n = match(p, /, align [0-9]+/) ? substr(p, RSTART + 8, RLENGTH - 8) + 0 : 0
                sub(/, align .*/, "", p)
                name = last_of(p)
                if (name in root && root[name] in held) {
                    type = p
                    sub(/^ *([^ ]+ = load|store) /, "", type)
                    if (!sub(/>.*/, ">", type))
                        sub(/,? .*/, "", type)
                    traced = bytes_of(type)
                    dbg = match(line, /, !dbg ![0-9]+/) ? substr(line, RSTART, RLENGTH) : ""
                    pointer = "ptr " name
                    if (p ~ /\* [^ ]+$/) {
                        text[b] = text[b] "  %held." ++holds " = bitcast " type "* " name " to i8*" dbg "\n"
                        pointer = "i8* %held." holds
                    }
                    name = "@__tsan_" (n < traced ? "unaligned_" : "") (p ~ /^ *store/ ? "write" : "read") traced
                    if (traced == 1 || traced == 2 || traced == 4 || traced == 8 || traced == 16) {
                        text[b] = text[b] "  call void " name "(" pointer ")" dbg "\n"
                        sub(/ .*/, "", pointer)
                        calls[name] = "void " name "(" pointer ")"
                    }
                }
            }
            traced = line ~ /call void @__tsan_/ || (traced && line ~ /dbg/ && line !~ / (load|store) /)
            text[b] = text[b] line "\n"
        }
    }
}
function first_of(line)
{
    return match(line, /%[-a-zA-Z$._0-9]+/) ? substr(line, RSTART, RLENGTH) : ""
}
function last_of(line)
{
    return match(line, /%[-a-zA-Z$._0-9]+$/) ? substr(line, RSTART, RLENGTH) : ""
}

# Numbers the blocks that can be reached from block 1, in the order of output, from `first` on. Marks loops:
# inside[h, b] is set if block b is in a loop with the head h.
function walk(    top, b, s, k, n, u, h, list)
{
    rank = blocks
    stack[top = 1] = 1
    state[1] = 1
    while (top > 0) {
        b = stack[top]
        if (tried[b] < leads[b]) {
            s = index_of[target[b, leads[b] - tried[b]++]]
            if (!state[s]) {
                state[s] = 1
                stack[++top] = s
            } else if (state[s] == 1) {
                heads[s] = 1
                back[++backs] = b
                back_to[backs] = s
            }
        } else {
            state[b] = 2
            at_rank[rank--] = b
            top--
        }
    }
    first = rank + 1
    for (k = 1; k <= backs; k++) {
        h = back_to[k]
        inside[h, h] = 1
        list[n = 1] = back[k]
        while (n > 0) {
            u = list[n--]
            if ((h, u) in inside)
                continue
            inside[h, u] = 1
            for (s = 1; s <= comes[u]; s++)
                list[++n] = source[u, s]
        }
    }
}

# Prints the blocks of the loop with the head h, or all blocks if h = 0.
function show(h,    k, b)
{
    for (k = first; k <= blocks; k++) {
        b = at_rank[k]
        if (shown[b] || (h && !((h, b) in inside)))
            continue
        shown[b] = 1
        printf "%s", text[b]
        if (b in heads)
            show(b)
    }
}

/^define / {
    in_function = 1
    print named($0)
    head = $0
    sub(/ (personality|#[0-9]|!dbg).*/, "", head)
    blocks = backs = 0
    split("", index_of); split("", text); split("", leads); split("", target); split("", comes)
    split("", source); split("", state); split("", tried); split("", heads); split("", inside); split("", shown)
    unnamed = gsub(/%[0-9]+[,)]/, "", head)
    next
}
in_function && /^}/ {
    for (b = 1; b <= blocks; b++)
        for (k = 1; k <= leads[b]; k++) {
            s = index_of[target[b, k]]
            source[s, ++comes[s]] = b
        }
    hold()
    walk()
    show(0)
    for (b = 1; b <= blocks; b++) # unreachable ones
        if (!shown[b])
            printf "%s", text[b]
    print
    in_function = 0
    next
}
in_function {
    if ($0 == "")
        next
    if (match($0, /^[^ ;][^ ]*:/)) {
        label = substr($0, 1, RLENGTH - 1)
        if (label ~ /^[0-9]/)
            label = "v" label
        index_of["%" label] = ++blocks
        label_of[blocks] = label ":\n"
        lines[blocks] = 0
        next
    }
    if (!blocks) {
        index_of["%v" unnamed] = ++blocks
        label_of[blocks] = "v" unnamed ":\n"
        lines[blocks] = 0
    }
    line = /call void @llvm\.mem(cpy|move|set)\..*i1 false\)/ && !/!annotation/ ? called($0) : named($0)
    code[blocks, ++lines[blocks]] = line
    while (match(line, /label %("[^"]*"|[-a-zA-Z$._0-9]+)/)) {
        target[blocks, ++leads[blocks]] = substr(line, RSTART + 6, RLENGTH - 6)
        line = substr(line, RSTART + RLENGTH)
    }
    next
}
/^%[0-9]/ { print named($0); next }
/^declare / {
    line = named($0)
    match(line, /@[^(]*/)
    declared[substr(line, RSTART, RLENGTH)] = 1
    print line
    next
}
{ print }
END {
    for (name in calls)
        if (!(name in declared))
            print "declare " calls[name]
}
