#!/bin/sh
# try.sh PROGRAM COUNT CHECKED CHECK: do the elements of shared-padded go through the rows of a tile, and
# from warp to warp? Any other way without a conflict has the same results and counts. So a record of what the
# threads of a block do is read: CHECK makes it, and common/cpu/instruments/check/beside.c says what it has.
case $1 in build/cpu/*) ;; *) exit 0 ;; esac
[ -n "$4" ] || exit 0
work=$(mktemp -d "${TMPDIR:-/tmp}/try-00.XXXXXX")
trap 'rm -rf "$work"' EXIT
CUDACPU_RECORD=$work/record $4 --seed 1 --case tile --variant shared-padded >"$work/said" 2>&1 ||
    exit 0 # which is told elsewhere
[ -f "$work/record" ] || exit 0
od -An -v -tu4 "$work/record" | awk '
    { for (i = 1; i <= NF; i++) word[n++] = $i }

    function thread(t) { return "lane " t % 32 " of warp " int(t / 32) }
    function wrong(text) {
        print "  variant shared-padded, case tile: " text
        exit 1
    }

    # An event is an access of 4 bytes: value, unit (the word within its array), code, order, block,
    # name + 65536 thread, what + 256 .... What is 0 for a load and 1 for a store.
    END {
        READS = 0
        WRITES = 1
        first = 4 + 15 * word[0] + 10 * word[1]
        for (i = first; i < first + 7 * word[2]; i += 7)
            if (word[i + 4] == 0)
                seen[word[i + 5] % 65536, word[i + 6] % 256] = 1
        # The tile is what is both stored to and loaded from.
        for (i = first; i < first + 7 * word[2]; i += 7) {
            name = word[i + 5] % 65536
            if (word[i + 4] || !seen[name, READS] || !seen[name, WRITES])
                continue
            what = word[i + 6] % 256
            k = what == READS ? loads++ : stores++
            place[what, k] = word[i + 1]
            by[what, k] = int(word[i + 5] / 65536)
        }
        if (!stores)
            exit
        for (k = 0; k < stores; k++) {
            at = place[WRITES, k]
            t = by[WRITES, k]
            stored_by[at] = t
            lane = t % 32
            if (!(lane in least) || at < least[lane]) {
                least[lane] = at
                least_by[lane] = t
            }
            if (!(lane in most) || at > most[lane]) {
                most[lane] = at
                most_by[lane] = t
            }
        }
        for (lane = 0; lane < 31; lane++)
            if (lane in most && lane + 1 in least && most[lane] >= least[lane + 1])
                wrong(thread(most_by[lane]) " stores into word " most[lane] " of the tile, " \
                    thread(least_by[lane + 1]) " into word " least[lane + 1] \
                    ": row " lane " is to lie before row " lane + 1 "; lane l of every warp is to store into row l")
        for (k = 0; k < loads; k++) {
            t = by[READS, k]
            from = stored_by[place[READS, k]]
            if (from == t)
                wrong(thread(t) " loads the element that it has stored itself; it is to load that of " \
                    thread(t % 64 < 32 ? t + 32 : t - 32))
            if (from - t != 32 && t - from != 32 || int(from / 64) != int(t / 64))
                wrong(thread(t) " loads the element of " thread(from) "; it is to load that of " \
                    thread(t % 64 < 32 ? t + 32 : t - 32))
        }
    }'
