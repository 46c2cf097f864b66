#!/bin/sh
# ptxas.sh SOURCE COMMAND...: runs nvcc, and fails if ptxas has compiled wgmma or setmaxnreg otherwise than
# the source says, or has spilled registers. ptxas gives only warnings of these: the program would be right,
# but slow.
source=$1
shift
said=$(mktemp "${TMPDIR:-/tmp}/ptxas.XXXXXX")
trap 'rm -f "$said"' EXIT
"$@" 2>"$said"
code=$?
cat "$said" >&2
awk -v source="$source" '
    function tell(name, why) {
        if (!(name in told))
            print source ": " name ": " why
        told[name] = 1
    }
    BEGIN {
        why["C7504"] = "setmaxnreg is ignored"
        why["C7508"] = "setmaxnreg is ignored: __launch_bounds__ names no number of blocks"
        why["C7517"] = "ptxas puts a wgmma.wait_group in, where registers are touched in flight"
        why["C7519"] = "ptxas puts a wgmma.fence in, which is missing"
    }
    match($0, /\(C75[0-9][0-9]\)/) {
        name = substr($0, RSTART + 1, 5)
        tell(name, name in why ? why[name] : "products of wgmma are made one after the other")
    }
    /spilled to local memory|[1-9][0-9]* bytes spill/ { tell("spill", "registers do not suffice") }
    END { for (name in told) exit 1 }' "$said" >&2 || exit 1
exit $code
