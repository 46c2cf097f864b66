# rule.awk: `make rule`: the rule of chapter 24, from counts and the rates of a device.
#   awk -f rule.awk NAME=VALUE...
# A VALUE is a number or an expression of numbers and capital letters, which other words give a value. The rates are
# in plots/data/DEVICE/ceilings.tsv, or newer ones in build/data/; where no row has one, that of the documentation is
# taken. With a letter S it says at which S the verdict changes.

function fail(text) {
    print "rule: " text >"/dev/stderr"
    exit 2
}

# unit(NAME, GOES, WHAT, ROW, AMOUNT, PER_CYCLE): a word that counts work. A row's value times AMOUNT is the rate of
# the device per us; or a multiprocessor's per cycle, where ROW ends so. PER_CYCLE is the documented rate, or 0. Work
# that is done in the new place may go elsewhere: less-NAME.
function unit(name, goes, what, row, amount, per_cycle) {
    units[++n_units] = name
    side[name] = goes
    whats[name] = what
    rows[name] = row
    amounts[name] = amount
    documented[name] = per_cycle
    if (!goes) unit("less-" name, 1, what, row, amount, per_cycle)
}

function define_units() {
    unit("launches", 1, "launches", "launch_full_us", 0, 0)
    unit("memory", 1, "bytes", "copy_tbps", 1e6, 0)
    unit("read", 1, "bytes", "read_tbps", 1e6, 0)
    unit("l2", 1, "bytes", "l2_read_tbps", 1e6, 0)
    unit("exp", 0, "exponentials", "exp_per_cycle", 1, 16)
    unit("fma", 0, "multiply-adds", "fp32_tflops", 5e5, 128)
    unit("mma", 0, "multiply-adds", "mma_f16_tflops", 5e5, 1365)
    unit("wgmma", 0, "multiply-adds", "tensor_f16_tflops", 5e5, 2048)
    unit("instructions", 0, "instructions", "", 1, 4)
    unit("wavefronts", 0, "wavefronts", "", 1, 1)
    unit("shared", 0, "bytes", "shared_bytes_per_cycle", 1, 128)
    unit("from-l2", 0, "bytes", "l2_read_tbps", 1e6, 0)
    unit("from-memory", 0, "bytes", "read_tbps", 1e6, 0)
    unit("atomic", 0, "bytes", "atomic_add_tbps", 1e6, 0)
    unit("atomic4", 0, "bytes", "atomic_add4_tbps", 1e6, 0)
    n_others = split("m was beside time sms device", others, " ")
}

function help(   i) {
    print "make rule ARGS=\"NAME=VALUE ...\": does it pay to fuse two kernels? The rule of chapter 24, from your counts.\n"
    print "What goes        launches=N  memory=BYTES written and as many read: 2*N if N bytes were written and read once"
    print "                 read=BYTES read beyond these: N for each further reading  l2=BYTES that the L2 held"
    print "What is done in the new place, once for each element; of several units the one that takes longest counts:"
    print "                 exp= fma= mma= wgmma= (multiply-adds)  instructions= (of a warp)  wavefronts=  shared=BYTES"
    print "                 from-l2=BYTES  from-memory=BYTES  atomic=BYTES  atomic4=BYTES (four floats at a time)"
    print "                 m=TIMES that this is done for an element; 1 if left out"
    print "                 was=US that the kernel that goes took beyond its launch and its bytes; 0 if left out"
    print "                 beside=US that the slowest unit is idle in the kernel that gets the work, if nobody waits for the result; 0 if left out"
    print "                 and each of these as less-exp= and so on: work that goes"
    print "Others           time=US before, to get a ratio of speed;  sms=N that have work;  device=NAME in plots/data/"
    print "                 S=4096 D=128 N=2*S*D: letters, for the values of other words\n"
    print "  make rule ARGS=\"launches=4 memory=8*N N=512*1024*1024\""
    print "  make rule ARGS=\"S=8192 launches=1 memory=4*S m=S/128 shared=64*S\""
}

# --- Expressions: the usual grammar, over the text `rest` ----------------------------------------------
function sum(   x) {
    x = product()
    while (rest ~ /^[-+]/) x = take() == "+" ? x + product() : x - product()
    return x
}
function product(   x, by) {
    x = atom()
    while (rest ~ /^[*\/]/) {
        if (take() == "*") x *= atom()
        else {
            by = atom()
            if (by == 0) fail(whole ": a division by 0")
            x /= by
        }
    }
    return x
}
function atom(   x, letter) {
    if (rest ~ /^\(/) {
        take()
        x = sum()
        if (take() != ")") malformed()
        return x
    }
    if (match(rest, /^[0-9]+(\.[0-9]+)?(e[0-9]+)?/)) {
        x = substr(rest, 1, RLENGTH) + 0
        rest = substr(rest, RLENGTH + 1)
        return x
    }
    letter = take()
    if (letter !~ /^[A-Z]$/) malformed()
    if (!(letter in text)) fail(whole ": " letter " has no value; one more word, " letter "=..., is right")
    return value(letter)
}
function take(   c) {
    c = substr(rest, 1, 1)
    rest = substr(rest, 2)
    return c
}
function malformed() {
    fail(whole ": a number is right, or numbers and capital letters with + - * / and ( )")
}

# The value of the word NAME; a letter inside is another word's.
function value(name,   kept, outer, x) {
    if (name in fixed) return fixed[name]
    if (++depth > 30) fail(name "=" text[name] ": it leads back to itself")
    kept = rest
    outer = whole
    rest = text[name]
    whole = name "=" text[name]
    x = sum()
    if (rest != "") malformed()
    if (x < 0) fail(whole ": that is " x ", and 0 or more is right")
    rest = kept
    whole = outer
    depth--
    return x
}

# --- The device -----------------------------------------------------------------------------------------
function read_rates(device,   path, read, cells, found, list, command) {
    if (device !~ /^[a-z0-9-]+$/) device = "-"
    path = "build/data/" device "/ceilings.tsv"
    if ((getline read <path) < 0) path = "plots/data/" device "/ceilings.tsv"
    else close(path)
    while ((getline read <path) > 0) {
        split(read, cells, "\t")
        if (read !~ /^#/ && cells[2] + 0 > 0) {
            rate[cells[1]] = cells[2] + 0
            found = 1
        }
    }
    if (found) {
        ceilings = path
        return
    }
    command = "ls plots/data/*/ceilings.tsv"
    while ((command | getline read) > 0) {
        split(read, cells, "/")
        list = list (list == "" ? "" : " or ") cells[3]
    }
    fail("device=" text["device"] ": no ceilings are recorded of it; " list " is right")
}

# The device's rate per us for NAME, or us per launch. Says in `from` what it is made of.
function rate_of(name,   row, per_cycle) {
    row = rows[name]
    # Older ceilings have only empty kernels.
    if (row == "launch_full_us" && !(row in rate)) row = "launch_graph_us"
    if ((row in rate) && row !~ /_per_cycle$/) {
        from = row
        return amounts[name] == 0 ? rate[row] : rate[row] * amounts[name] * (whats[name] == "bytes" ? 1 : part)
    }
    per_cycle = (row in rate) ? rate[row] : documented[name]
    from = (row in rate) ? row : per_cycle " per cycle, documented"
    if (!per_cycle) fail(name "=" text[name] ": " ceilings " has no " row "; the program ceilings measures it")
    return per_cycle * rate["clock_mhz"] * rate["sms"] * part
}

# --- The rule -------------------------------------------------------------------------------------------
# The us of one word; SAY: prints its line.
function microseconds(name, say,   x, r, us) {
    x = value(name)
    r = rate_of(name)
    us = rows[name] ~ /^launch/ ? x * r : x / r
    if (say) line(name, figure(x) " " whats[name], rows[name] ~ /^launch/ ? sprintf("x %.2f us", r) \
        : whats[name] == "bytes" ? sprintf("/ %.2f TB/s", r / 1e6) : sprintf("/ %.3g million per us", r / 1e6), us, from)
    return us
}
function figure(x) { return x == int(x) ? sprintf("%.0f", x) : sprintf("%.1f", x) }
function line(name, count, by, us, where) {
    printf "  %-12s %24s  %-21s %9.2f us%s\n", name, count, by, us, (where == "" ? "" : "  " where)
}

# The us saved less those paid.
function balance(say,   i, us, goes, once, again, seen) {
    if (say) print "what goes"
    for (i = 1; i <= n_units; i++)
        if (side[units[i]] && units[i] in text) goes += microseconds(units[i], say)
    if (say) {
        line("saved", "", "", goes, "")
        print "what is done in the new place"
    }
    # Units work beside each other.
    for (i = 1; i <= n_units; i++)
        if (!side[units[i]] && units[i] in text && (us = microseconds(units[i], say)) > once) once = us
    again = value("m") * once
    seen = again - value("was") - value("beside")
    if (say) {
        if (once) {
            line("w", "the longest of these", "", once, "")
            line("m w", "m = " figure(value("m")), "", again, "")
        } else print "  nothing"
        if (value("was")) line("was", "beyond launch and bytes", "", -value("was"), "")
        if (value("beside")) line("beside", "what nobody waits for", "", -value("beside"), "")
    }
    # Work that is hidden costs nothing, and saves nothing.
    if (seen < 0 && again >= value("was")) seen = 0
    if (say) line("paid", "", "", seen, "")
    return goes - seen
}

function verdict(less,   time) {
    time = value("time")
    printf "\nsaved - paid = %.2f us: fusing %s", less, (less > 0 ? "pays" : less < 0 ? "does not pay" : "changes nothing")
    if (time && time <= less) fail("time=" text["time"] ": that is no more than what is saved; the time of both kernels is right")
    if (time) printf "; %.2f us become %.2f, %.2f times as fast", time, time - less, time / (time - less)
    print "."
}

# Where the sign changes between S = 16 and 2^24, to the next whole S.
function changes(   s, low, high, middle, was, is) {
    if (!("S" in text)) return
    for (s = 16; s <= 16777216; s *= 2) {
        fixed["S"] = s
        is = balance(0) > 0
        if (s > 16 && is != was) {
            low = s / 2
            high = s
            while (high - low > 1) {
                middle = int((low + high) / 2)
                fixed["S"] = middle
                if ((balance(0) > 0) == was) low = middle
                else high = middle
            }
            printf "It pays %s S = %d.\n", is ? "from" : "up to", is ? high : low
        }
        was = is
    }
    delete fixed["S"]
}

BEGIN {
    define_units()
    if (ARGC < 2 || ARGV[1] ~ /^-*help$/) {
        help()
        exit
    }
    for (i = 1; i <= n_units; i++) known[units[i]] = 1
    for (i = 1; i <= n_others; i++) known[others[i]] = 1
    for (i = 1; i < ARGC; i++) {
        at = index(ARGV[i], "=")
        if (at < 2) fail(ARGV[i] ": a name and a value are right, as in m=4")
        name = substr(ARGV[i], 1, at - 1)
        if (!(name in known) && name !~ /^[A-Z]$/) {
            for (j = 1; j <= n_units; j++) if (units[j] !~ /^less-/) all = all units[j] ", "
            for (j = 1; j <= n_others; j++) all = all others[j] ", "
            fail(ARGV[i] ": there is no " name "; " all "less-exp and the like, and capital letters are right")
        }
        if (name in text) fail(ARGV[i] ": " name " is given twice; once is right")
        text[name] = substr(ARGV[i], at + 1)
    }
    for (name in text) if (name ~ /^[A-Z]$/) value(name) # also those that no word uses
    if (!("m" in text)) text["m"] = 1
    if (!("was" in text)) text["was"] = 0
    if (!("beside" in text)) text["beside"] = 0
    if (!("time" in text)) text["time"] = 0
    if (!("device" in text)) text["device"] = "nvidia-h200"
    read_rates(text["device"])
    part = 1
    if ("sms" in text) {
        if (value("sms") < 1 || value("sms") > rate["sms"])
            fail("sms=" text["sms"] ": 1 to " rate["sms"] " is right, which the device has")
        part = value("sms") / rate["sms"]
    }
    balance(0) # a wrong word is told before anything is printed
    printf "%s: %d multiprocessors, %d MHz\n", text["device"], rate["sms"], rate["clock_mhz"]
    verdict(balance(1))
    changes()
}
