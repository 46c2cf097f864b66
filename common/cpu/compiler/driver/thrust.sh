# shellcheck shell=sh
# compiler/driver/thrust.sh: the toolkit's Thrust. cudacc reads it; it writes headers to $libcu.
#
# Thrust has a system for hosts, thrust/system/cpp, in which an algorithm is a loop. A copy of that system
# with the name of the device's, thrust/system/cuda, takes the place of the toolkit's own, but runs each
# algorithm as a kernel (cpu/thrust/system.h) and puts its vectors into the device's memory (cpu/thrust/memory.h).

write_thrust()
{
    [ -d "$toolkit/thrust/system/cpp" ] || return 0
    mkdir -p "$libcu/thrust/system/cuda/detail"
    for header in "$toolkit"/thrust/system/cpp/*.h "$toolkit"/thrust/system/cpp/detail/*; do
        name=thrust/system/cuda/${header#"$toolkit/thrust/system/cpp/"}
        case $name in
        */detail/execution_policy.h) echo '#include "cpu/thrust/policy.h"' ;;
        */detail/par.h | */detail/*_value.h | */detail/iter_swap.h | */detail/malloc_and_free.h)
            echo '#include "cpu/thrust/system.h"' ;;
        *)
            case $name in */detail/*.h) echo '#include "cpu/thrust/system.h"' ;; esac
            sed -e 's/\<cpp\>/cuda/g' \
                -e 's/system::detail::sequential::\(malloc\|free\)/system::cuda::detail::\1/' \
                -e '/universal/!s/mr::new_delete_resource/mr::cpu_resource<false>/' \
                -e 's/mr::new_delete_resource/mr::cpu_resource<true>/' \
                -e 's@<thrust/mr/new.h>@"cpu/thrust/memory.h"@' "$header" ;;
        esac >"$work/libcu/header"
        publish "$work/libcu/header" "$libcu/$name"
    done
}
