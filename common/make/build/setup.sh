#!/bin/sh
# setup.sh: installs missing tools, with apt-get (as root or through sudo) or Homebrew.
# Prints first what it installs, or in one line that nothing is missing.
# The CUDA toolkit is never installed: the right version depends on the driver.
set -e

have() {
    command -v "$1" >/dev/null 2>&1
}

cuda_word() {
    if [ "$(sh common/make/gpu/gpu.sh nvcc "$NVCC" | cut -c1)" = - ] &&
        { ls /dev/nvidia[0-9]* /dev/dxg || have nvidia-smi; } >/dev/null 2>&1; then
        echo "There seems to be an NVIDIA GPU. To use it, install the CUDA toolkit, 12.0 up:" \
            "https://developer.nvidia.com/cuda-downloads"
    fi
}

# The tools that are missing, by their purpose.
missing=
need() {
    missing="$missing $1"
}
[ "$(sh common/make/build/toolchain.sh "$CXX" "$CC" | cut -c1)" != - ] || need compiler
have gnuplot || need gnuplot
have pandoc || need pandoc
have prove || need prove

if [ -z "$missing" ]; then
    echo "setup: nothing is missing"
    cuda_word
    exit 0
fi

if have apt-get; then
    root=
    if [ "$(id -u)" != 0 ]; then
        have sudo || {
            echo "setup: missing:$missing; apt-get needs root, and there is no sudo" >&2
            exit 1
        }
        root=sudo
    fi
    $root apt-get -qq update
    packages=
    for what in $missing; do
        case $what in
        compiler)
            # Where plain g++ is older than 12 (Ubuntu 22.04), there is also a package g++-12.
            version=$(apt-cache show g++ 2>/dev/null |
                sed -n 's/^Version: \([0-9]*:\)\{0,1\}\([0-9]*\).*/\2/p' | sort -n | tail -n 1)
            if [ "${version:-0}" -ge 12 ]; then
                packages="$packages g++"
            else
                packages="$packages g++-12"
            fi
            ;;
        gnuplot) packages="$packages gnuplot-nox" ;;
        prove) packages="$packages perl" ;;
        *) packages="$packages $what" ;;
        esac
    done
    log=build/setup.log
    mkdir -p build
    echo "setup: installing with apt-get:$packages (log: $log)"
    # env: sudo does not pass the variable on by itself.
    # shellcheck disable=SC2086
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        $packages >$log 2>&1 || {
        tail -n 20 $log >&2
        echo "setup: apt-get could not install them, see above and $log" >&2
        exit 1
    }
elif have brew; then
    packages=
    for what in $missing; do
        case $what in
        compiler) packages="$packages gcc" ;;
        prove) packages="$packages perl" ;;
        *) packages="$packages $what" ;;
        esac
    done
    echo "setup: installing with Homebrew:$packages"
    # shellcheck disable=SC2086
    brew install $packages
else
    echo "setup: neither apt-get nor Homebrew is here; install these by hand:$missing" >&2
    exit 1
fi
echo "setup: done"
cuda_word
