#!/bin/sh
# data.sh PROGRAMS DEVICE PARTIAL SOURCE...: records this device's measurements, in build/data/DEVICE/.
# PARTIAL, if not empty: the sources are not all steps, and existing ceilings are kept.
# The ceilings come first, as every table has per cent of them; then each step at full size, one after the
# other; and with all steps PyTorch's kernels, the peers. A step's header may add arguments with a line
# " * Record: ARGUMENTS", and request further runs with lines " * Data: ARGUMENTS". A name that ends in .tsv is
# a file in the same folder.
programs=$1 device=$2 partial=$3
shift 3

out=build/data/$device
KF_COMMIT=$(sh common/make/gpu/commit.sh)
export KF_COMMIT
began=$(date +%s)
# Twelve minutes: nobody would often record for longer.
limit=720
failed=
blanks=$IFS
newline="
"

# record NAME COMMAND...: prints how long the command took, and goes on if it fails.
record() {
    name=$1 since=$(date +%s)
    shift
    echo "== $name: $*"
    "$@"
    code=$?
    echo "== $name: $(($(date +%s) - since)) s"
    case $code in
    0) ;;
    77) echo "== $name: passed over, it cannot run here" ;;
    *) failed="$failed $name" ;;
    esac
}

# beside LINE: the words of the line as arguments; a name that ends in .tsv is a new file in the folder.
beside() {
    arguments=
    for word in $1; do
        case $word in
        *.tsv)
            word=$out/$word
            rm -f "$word"
            ;;
        esac
        arguments="$arguments $word"
    done
}

mkdir -p "$out"
if [ -z "$partial" ] || [ ! -f "$out/ceilings.tsv" ]; then
    rm -f "$out/ceilings.tsv"
    record ceilings "$programs/ceilings" --out "$out/ceilings.tsv"
fi
for source in "$@"; do
    name=$(basename "$(dirname "$source")")
    number=${name%%-*}
    rm -f "$out/step-$number.tsv"
    beside "$(sed -n "s/^ \\* Record: *//p" "$source")"
    # shellcheck disable=SC2086
    record "step-$number" "$programs/step-$number" --out "$out/step-$number.tsv" $arguments
    # One iteration per line of the header.
    IFS=$newline
    for line in $(sed -n "s/^ \\* Data: *//p" "$source"); do
        IFS=$blanks
        beside "$line"
        # shellcheck disable=SC2086
        record "step-$number" "$programs/step-$number" $arguments
    done
    IFS=$blanks
done
# PyTorch's kernels on the same shapes. To import it, only to see if it is installed, would take seconds.
if [ -z "$partial" ]; then
    rm -f "$out/peers.tsv" "$out/peers-flash.tsv" "$out/peers-flash-backward.tsv" "$out/peers-long.tsv"
    if python3 -c 'import importlib.util as u; assert u.find_spec("torch")' 2>/dev/null; then
        record peers python3 plots/peers/peers.py --out "$out/peers.tsv"
        record peers-flash python3 plots/peers/flash.py --out "$out/peers-flash.tsv"
        record peers-flash-backward python3 plots/peers/flash_backward.py \
            --out "$out/peers-flash-backward.tsv"
        record peers-long python3 plots/peers/long.py --out "$out/peers-long.tsv"
        # And the library transformers on the same model.
        if python3 -c 'import importlib.util as u; assert u.find_spec("transformers")' 2>/dev/null; then
            record peers-neox python3 plots/peers/neox.py --programs "$programs" --out "$out"
        else
            echo "== peers-neox: passed over, there is no python3 with transformers"
        fi
    else
        echo "== peers: passed over, there is no python3 with PyTorch"
    fi
fi

took=$(($(date +%s) - began))
echo "data: $took s, commit $KF_COMMIT, in $out. To keep it:"
echo "  mkdir -p plots/data/$device && cp $out/*.tsv plots/data/$device/"
[ $took -le $limit ] || echo "data: that is more than the $limit s it should take" >&2
[ -z "$failed" ] || { echo "data: failed:$failed" >&2; exit 1; }
