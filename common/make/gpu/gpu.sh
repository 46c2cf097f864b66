#!/bin/sh
# gpu.sh: which nvcc and which device `make` may use.
#   gpu.sh nvcc [NVCC]            prints "NVCC VERSION", or "- REASON"
#   gpu.sh arch NVCC ARCH         prints nothing when nvcc compiles for sm_ARCH, else the reason
#   gpu.sh tool NAME              prints where the toolkit's program NAME is, nothing if nowhere
#   gpu.sh device NVCC DIR FLAGS  prints "cuda SLUG NAME" for device 0, or "cpu REASON"
# DIR is the folder of the probe program and of its last good answer.

oldest=12

find_tool() {
    for tool in "$1" "${CUDA_HOME:-/usr/local/cuda}/bin/$1" /opt/nvidia/nsight-compute/*/"$1"; do
        command -v "$tool" >/dev/null 2>&1 && { echo "$tool"; return; }
    done
}

find_nvcc() {
    nvcc=${1:-$(find_tool nvcc)}
    [ -n "$nvcc" ] || { echo "- no nvcc found"; return; }
    version=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9][0-9.]*\).*/\1/p')
    case $version in
    "") echo "- $nvcc is no nvcc that runs here" ;;
    *) if [ "${version%%.*}" -lt $oldest ]; then
        echo "- nvcc $version is too old, $oldest.0 or newer is needed"
    else
        echo "$nvcc $version"
    fi ;;
    esac
}

check_arch() {
    number=${2%[af]}
    case $number in
    "" | *[!0-9]*) echo "ARCH=$2 is no architecture: write 80, 90a and the like" ;;
    *) if [ "$1" != - ]; then
        known=$("$1" --list-gpu-arch | sed 's/compute_//' | sort -n | tr '\n' ' ' | sed 's, $,,')
        case " $known " in
        *" $number "*) ;;
        *) echo "ARCH=$2 is not among those this nvcc compiles for: $known" ;;
        esac
    fi ;;
    esac
}

probe() {
    nvcc=$1 dir=$2
    shift 2
    version=$(find_nvcc "$nvcc") version=${version##* }
    # The answer depends on these. The driver's version and the device files change when a driver or a device
    # is added or removed, and to read them is much cheaper than to query the driver.
    key="$version $* ${CUDA_VISIBLE_DEVICES-all} $(cat /proc/driver/nvidia/version 2>/dev/null |
        head -n 1) $(ls -d /dev/nvidia[0-9]* /dev/dxg 2>/dev/null | tr '\n' ' ')"
    key=$(echo "$key" | cksum | tr ' ' '-')
    if [ -f "$dir/probe-$key.txt" ]; then
        cat "$dir/probe-$key.txt"
        return
    fi
    mkdir -p "$dir"
    program=$dir/probe-$({ echo "$version $*"; cat common/make/gpu/probe.cu; } | cksum | tr " " "-")
    if [ ! -x "$program" ]; then
        if ! "$nvcc" "$@" -o "$program.$$" common/make/gpu/probe.cu >"$dir/probe.log" 2>&1; then
            echo "cpu nvcc $version found, but it compiles nothing here: see $dir/probe.log"
            return
        fi
        mv "$program.$$" "$program"
    fi
    if said=$("$program" 2>&1); then
        slug=$(echo "$said" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n-')
        echo "cuda $slug $said, nvcc $version" >"$dir/probe-$key.txt.$$"
        mv "$dir/probe-$key.txt.$$" "$dir/probe-$key.txt"
        cat "$dir/probe-$key.txt"
    else
        echo "cpu nvcc $version found, but $(echo "$said" | head -n 1)"
    fi
}

what=$1
shift
case $what in
nvcc) find_nvcc "$1" ;;
arch) check_arch "$1" "$2" ;;
tool) find_tool "$1" ;;
device) probe "$@" ;;
esac
