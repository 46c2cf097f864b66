#!/bin/sh
# try.sh PROGRAM COUNT: is there anything of ONE_STEP? How far a loop is unrolled shows in no count, so the text is
# looked at. And does v1-float4-k load its table 4 bytes at a time? Fewer loads are no reason to
# refuse a solution, but this variant is there to show what they cost.
yours=work/06-v1-float4.cu
[ ! -f $yours ] || awk '/^static .*score_keys_by\(/ { inside = 1 }
    inside && /ONE_STEP/ && !/^ *\/\// { found = 1 }
    /^}/ { inside = 0 }
    END { exit !found }' $yours || {
    echo "  $yours: ONE_STEP is not in score_keys_by, so v1-float4-one is the kernel of v1-float4 again"
    exit 1
}
case $2 in build/cpu/*) ;; *) exit 0 ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/try-06.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$2" --seed 1 --case D128 --variant v1-float4-k --out "$work/rows" >"$work/said" 2>&1 ||
    exit 0 # which is told elsewhere
awk -F '\t' 'FNR == 1 { file++; columns = 0 }
    /^#/ { next }
    !columns { columns = NF; for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["case"] == "D128" && $at["variant"] == "v1-float4-k" { n[file] += $at["global_ld_requests"] }
    END {
        if (n[2] >= 0.8 * n[1]) exit 0
        print "  variant v1-float4-k, case D128: global_ld_requests " n[2] ", with narrow loads of the table " n[1]
        exit 1
    }' plots/data/cpu/step-06-counts.tsv "$work/rows"
