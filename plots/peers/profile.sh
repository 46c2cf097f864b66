#!/bin/sh
# profile.sh [hopper|long]: what ncu says of one call of each peer, in build/data/DEVICE/, with the columns
# of `make profile`: those of step 19, or the attention of hopper.py or of long.py at S = 8192, where each
# launch has a row of its own too and a case is named after its pass. Run from the top folder.
case $* in
"") name=peers calls='peers.py --only 19' each= ;;
hopper) name=peers-hopper calls='hopper.py --pass forward --pass backward --length 8192' each=1 ;;
long) name=peers-long calls='long.py --length 8192' each=1 ;;
*) echo "profile.sh $*: hopper, long, or nothing, is right" >&2; exit 2 ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/peers.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
KF_COMMIT=$(sh common/make/gpu/commit.sh)
export KF_COMMIT
# shellcheck disable=SC2086
sh common/make/gpu/ncu.sh $name "$work" common/make/gpu/profile.txt all \
    python3 plots/peers/$calls --once --seed 1 --out "$work/rows.tsv" || exit

# A peer's launches are those between its spin_kernel and the next one. Their peer is the next row.
awk -F'\t' -v OFS='\t' -v kept="$work/kept.tsv" '
    FNR == 1 { file++ }
    file == 1 && $2 ~ /spin_kernel/ { peers++; next }
    file == 1 { launches[peers]++; print >kept; next }
    /^#/ { next }
    !named { for (i = 1; i <= NF; i++) at[$i] = i; named = 1; next }
    { print $at["variant"], $at["case"], launches[++row] + 0 }
    END { if (row != peers) { print "peers: " peers + 0 " calls for " row + 0 " rows" >"/dev/stderr"; exit 1 } }
' "$work/ncu.tsv" "$work/rows.tsv" >"$work/launches" || exit
mv "$work/kept.tsv" "$work/ncu.tsv"
sh common/make/gpu/profile-rows.sh $name "$work" -v each="$each"
