#!/bin/sh
# lint.sh: the checks that read the sources: clang-format, cppcheck, clang-tidy, shellcheck, and our own.
# A missing tool is skipped with a message. Exit 1 if a check complains. The arguments are the compiler's
# (include folders), from the Makefile. Three variables are for the tests: LINT_ONLY names the only check to
# make; LINT_PROVEN names a file of lines "TOOL FILE", with files that the tool need not read again; LINT_LIST
# prints all such lines, and nothing is read.

status=0

# wanted CHECK: is it made? With LINT_LIST only the tools that read files one by one are.
wanted() {
    [ "${LINT_ONLY:-$1}" = "$1" ] || return 1
    case $1 in
    clang-format | cppcheck | clang-tidy | shellcheck) ;;
    *) [ -z "${LINT_LIST-}" ] ;;
    esac
}

have() {
    wanted "$1" || return 1
    command -v "$1" >/dev/null 2>&1 || {
        echo "lint: $1 is not here: skipped"
        return 1
    }
}

# The files that git knows or would add: no build outputs, no exercises.
files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -co --exclude-standard -- "$@"
    else
        for pattern in "$@"; do
            find common steps tests book plots .ci -name "$pattern" -type f 2>/dev/null
        done
    fi | while read -r file; do [ -f "$file" ] && echo "$file"; done | sort -u
}

# unproven TOOL: reads names of files, and prints those that TOOL has to read.
unproven() {
    if [ -n "${LINT_LIST-}" ]; then
        sed "s,^,$1 ," >&3
    elif [ -n "${LINT_PROVEN-}" ]; then
        awk -v "tool=$1" -v "proven=$LINT_PROVEN" '
            BEGIN { while ((getline line < proven) > 0) known[line] } !((tool " " $0) in known)'
    else
        cat
    fi
}
exec 3>&1

# verdict CHECK CODE [FILES]: prints whether a check that ended with this code found nothing, in these files.
verdict() {
    if [ "$2" = 0 ]; then
        fine="all is fine"
        [ -z "${3-}" ] || fine="$(echo "$3" | wc -l | tr -d ' ') files are fine"
        echo "lint: $1: $fine"
    else
        status=1
        echo "lint: $1 complains: see above"
    fi
}

check() {
    name=$1 list=$(echo "$2" | unproven "$1")
    shift 2
    [ -n "$list" ] || return 0
    echo "$list" | tr '\n' '\0' | xargs -0 "$@"
    verdict "$name" $? "$list"
}

# Other versions lay out some lines differently, and only one layout can be right.
layout=14
if have clang-format; then
    version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
    if [ "$version" = $layout ]; then
        # The report of clang-format lists every place; the names of the files and the command are enough.
        laid_out=$(files "*.c" "*.h" "*.cu" "*.cuh" | grep -v "^tests/book/" | unproven clang-format)
        if [ -z "$laid_out" ]; then
            :
        elif said=$(echo "$laid_out" | tr '\n' '\0' |
            xargs -0 clang-format --dry-run -Werror --ferror-limit=1 2>&1); then
            verdict clang-format 0 "$laid_out"
        else
            place=':[0-9]*:[0-9]*: error: code should be clang-formatted .*'
            wrong=$(echo "$said" | sed -n "s/$place//p")
            if [ -n "$wrong" ]; then
                status=1
                echo "lint: clang-format complains; clang-format -i puts right:" $wrong
            else
                # Not the layout of a file is wrong: .clang-format cannot be read, for example.
                echo "$said" >&2
                verdict clang-format 1
            fi
        fi
    else
        echo "lint: clang-format here is version $version, and version $layout decides: skipped"
    fi
fi

c_files=$(files '*.c')
if have cppcheck; then
    # Leaks are left to clang-tidy, which follows pointers into structures.
    check cppcheck "$c_files" cppcheck --quiet --std=c11 --language=c --error-exitcode=1 \
        --enable=warning,portability,performance --inline-suppr --suppress=missingIncludeSystem \
        --suppress=missingInclude --suppress=unmatchedSuppression --suppress=memleak "$@"
fi
if have clang-tidy; then
    tidy() {
        # Each file in the language it is written in; the count of suppressed warnings is noise.
        clang-tidy --quiet --warnings-as-errors='*' "$@" -- -std=c11 $include 2>"$log" || {
            grep -v 'warnings\{0,1\} \(generated\|treated\)' "$log" >&2
            return 1
        }
    }
    include="$*" log=${TMPDIR:-/tmp}/lint.$$
    tidied=$(echo "$c_files" | unproven clang-tidy)
    if [ -n "$tidied" ]; then
        # shellcheck disable=SC2086
        tidy $tidied
        verdict clang-tidy $? "$tidied"
    fi
    rm -f "$log"
fi
if have shellcheck; then
    scripts=$(files '*' | tr '\n' '\0' |
        xargs -0 awk '/^#!.*(sh$|bash)/ { print FILENAME } { nextfile }' /dev/null)
    check shellcheck "$scripts" shellcheck --severity=warning --exclude=SC1007
fi

# A section's heading is a line of its own, "// --- Title ---" or with a C comment's marks. clang-format
# breaks one that is too long and fills what follows into it.
if wanted headings; then
    files '*.c' '*.h' '*.cu' '*.cuh' | tr '\n' '\0' | xargs -0 awk '
    !/^ *(\/\/|\/\*|\*)/ { next }
    /^ *(\/\/|\/\*) --- .*[^-] --*( \*\/)?$/ { next }
    /^ *(\/\/|\/\*) --- / && !/\*\/$/ || /-----/ {
        print FILENAME ":" FNR ": a heading stands in one line, with dashes at its end"
        found = 1
    }
    END { exit found }' /dev/null
    verdict headings $?
fi

# phrases.txt lists phrases that readers of comments had to read twice, and what to write instead.
# CUDA's own headers have names without a suffix (<cuda/barrier>), and so have ours in common/cpu/include.
if wanted phrases; then
    files '*' |
        grep -E '^Makefile$|^(common|steps)/.*(\.(c|h|cu|cuh|sh|awk|mk|pl|pm)|/cudacc|/include/[^.]*)$|^tests/([^/]*\.t|lib/.*)$' |
        tr '\n' '\0' | xargs -0 awk -f common/make/build/phrases.awk common/make/build/phrases.txt
    verdict phrases $?
fi

# A header that serves one step lies beside it: a header in common/cuda, or a .cuh in common/neox, is included
# by two steps or more, directly or through another header. Files are compared by name, without folders.
if wanted 'shared headers'; then
    files '*.cu' '*.cuh' | grep -E '^(steps|common/cuda|common/neox)/' | tr '\n' '\0' | xargs -0 awk '
    function base(path) { sub(/.*\//, "", path); return path }
    FNR == 1 {
        name = base(FILENAME)
        if (FILENAME ~ /^steps\//) { split(FILENAME, part, "/"); name = "step " part[2]; steps[name] }
        else shared[name] = FILENAME
    }
    /^ *# *include *"/ { split($0, part, "\""); from[name] = from[name] " " base(part[2]) }
    function reach(file, step,    n, i, next_file) {
        n = split(from[file], next_file, " ")
        for (i = 1; i <= n; i++)
            if (!((step, next_file[i]) in seen)) {
                seen[step, next_file[i]]
                users[next_file[i]]++
                reach(next_file[i], step)
            }
    }
    END {
        for (step in steps) reach(step, step)
        for (name in shared)
            if (users[name] < 2) {
                print shared[name] ": " users[name] + 0 " of the steps use it, and a shared header serves two or more"
                found = 1
            }
        exit found
    }' /dev/null
    verdict 'shared headers' $?
fi

device_files=$(files '*.cu' '*.cuh' | grep -E '^(steps|common/cuda|common/neox)/')
# rules NAME AWK: AWK prints what it complains of in those files, and exits 1.
rules() {
    wanted "$1" || return 0
    [ -z "$device_files" ] || echo "$device_files" | tr '\n' '\0' | xargs -0 awk "$2" /dev/null
    verdict "$1" $?
}

# An error of a launch has to be found at once, and not by a later call. Launches in branches of one if may
# share a check behind it.
rules launches '
    function complain(what) { print FILENAME ":" at ": " what; found = 1; pending = 0 }
    FNR == 1 { pending = 0 }
    { line = $0; sub(/\/\/.*/, "", line) }
    line ~ /cudaLaunchKernel/ && line !~ /CUDA_CHECK\(cudaLaunchKernel/ {
        at = FNR
        complain("a launch whose result nobody looks at")
    }
    pending && line ~ /} else/ { apart = 1 }
    pending && !apart && line ~ /<<<|CUDA_CHECK\(|(^|[^a-z_])return[^a-z_]/ || pending && line ~ /^}/ {
        complain("a launch that CUDA_CHECK_LAUNCH() does not follow")
    }
    line ~ /<<</ { pending = 1; apart = 0; at = FNR }
    line ~ /CUDA_CHECK_LAUNCH\(\)/ { pending = 0 }
    END { exit found }'

# An index into a tensor may exceed 2^31, and no case that a CPU runs is so large. Rows that blockDim numbers
# in y or z stay below 2^31, as a grid has at most 65535 blocks there. An int computed from blockIdx may count
# rows; multiplied by an extent, in an index or an offset, it has to be an int64_t.
rules indices '
    FNR == 1 || /^}/ { split("", narrow); split("", wide) }
    { line = $0; sub(/\/\/.*/, "", line) }
    line ~ /int64_t [a-z_0-9]+ = [( ]*blockIdx\.[xyz] *\*/ &&
        line !~ /blockIdx\.[yz] \* blockDim\.[yz] \+ threadIdx\.[yz];/ {
        print FILENAME ":" FNR ": blockIdx is multiplied in 32 bits"
        found = 1
    }
    {
        for (rest = line; match(rest, /int64_t [A-Za-z_0-9]+/); rest = substr(rest, RSTART + RLENGTH))
            wide[substr(rest, RSTART + 8, RLENGTH - 8)] = 1
    }
    line ~ /(^| )(int|unsigned|uint32_t) [a-z_0-9]+ = / {
        name = line
        sub(/ = .*/, "", name)
        sub(/.* /, "", name)
        if (line ~ /blockIdx\./)
            narrow[name] = 1
        next
    }
    {
        for (name in narrow)
            for (rest = line; match(rest, "(\\[|\\+= |[a-z_] \\+ )" name " \\* [A-Za-z_]+" \
                "|(^|[^A-Za-z_0-9)])\\(([^(),]*[^A-Za-z_0-9(),])?" name "( [^(),]*)?\\) \\* [A-Za-z_]+");
                 rest = substr(rest, RSTART + RLENGTH)) {
                product = substr(rest, RSTART, RLENGTH)
                right = product ~ /padded_rows/
                for (other in wide)
                    right = right || product ~ ("(^|[^A-Za-z_0-9])" other "([^A-Za-z_0-9]|$)")
                if (!right) {
                    print FILENAME ":" FNR ": " name ", an int, is multiplied in 32 bits"
                    found = 1
                }
            }
    }
    END { exit found }'

# Without volatile and "memory" a compiler may move loads and stores past an asm that reads, writes or orders
# memory. wgmma.mma_async needs neither: it has no address, and stands between a fence and a commit.
rules asm '
    FNR == 1 { text = "" }
    text == "" && /(^|[^A-Za-z_])asm( volatile)? *\(/ { at = FNR; text = " " }
    text != "" { text = text " " $0 }
    text != "" && /\);( *\\)?$/ {
        touches = text ~ /\[%/ ||
            text ~ /["{; ](bar|barrier|mbarrier|fence|membar|cp|ld|st|ldmatrix|stmatrix|red|atom|prefetch)\./ ||
            text ~ /wgmma\.(fence|commit_group|wait_group)\./
        if (touches && (text !~ /"memory"/ || text !~ /asm volatile/)) {
            print FILENAME ":" at ": an asm that touches memory needs volatile and \"memory\""
            found = 1
        }
        text = ""
    }
    END { exit found }'

# Calls of fence_registers() that are missing around products of wgmma: register_fences.awk says why.
register_fences=$(cat common/make/build/register_fences.awk) || exit
rules fences "$register_fences"
exit $status
