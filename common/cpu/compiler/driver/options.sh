# options.sh: reads the command line of cudacc into variables. Sourced by cudacc with its arguments.
# The names are nvcc's, long and short, with the value after = or as the next argument. Options of g++ that
# nvcc only passes on with -Xcompiler (-Wall, -fopenmp, -march=native) are accepted too.

asked= # all arguments that affect the result, for the cache
: >"$work/ignored"

# Reports a flag without effect here, once for each name.
ignore()
{
    grep -q -x -e "$1" "$work/ignored" || echo "cudacc: $1 is ignored: $2" >&2
    echo "$1" >>"$work/ignored"
}

# Fails for an unknown option. Proposes the nearest known name, if at most a third of it is wrong.
unknown()
{
    near=$(grep -oE -e '(^| )--?[a-zA-Z][-a-zA-Z0-9_]+' "$here/compiler/driver/options.sh" | awk -v word="$1" '
        function least(a, b) { return a < b ? a : b }
        function distance(a, b,    i, j, row, last, kept) {
            for (j = 0; j <= length(b); j++)
                row[j] = j
            for (i = 1; i <= length(a); i++) {
                last = row[0]++
                for (j = 1; j <= length(b); j++) {
                    kept = row[j]
                    row[j] = least(least(row[j], row[j - 1]) + 1,
                                   last + (substr(a, i, 1) != substr(b, j, 1)))
                    last = kept
                }
            }
            return row[length(b)]
        }
        function bare(s) { sub(/^-+/, "", s); return s }
        BEGIN { best = (length(bare(word)) + 2) / 3 }
        { d = distance(bare(word), bare($1)); if (d < best) { best = d; name = $1 } }
        END { print name }')
    fail "unknown option $1${near:+; the nearest that is known is $near}"
}

# Splits $2 at commas, and puts the prefix $1 before each word.
each()
{
    prefix=$1
    quote "$2" | sed "s/^ '/ '$prefix/; s/,/' '$prefix/g"
}

add_input()
{
    [ -e "$1" ] || fail "there is no file $1"
    inputs="$inputs$(quote "$1")"
}

add_library()
{
    case $1 in
    curand | curand_static) ;; # part of the runtime
    cudart | cudart_static | cudadevrt | cuda) ignore "-l$1" "the runtime is always linked" ;;
    cublas | cublas_static | cublasLt | cublasLt_static) cublas=1 ;; # linked only if it is called
    cufft | cusolver | cusparse | nvToolsExt | nvrtc) ignore "-l$1" "there is no such library here" ;;
    *) link="$link$(quote "-l$1")" ;;
    esac
}

# Makes a kind of warning, nvcc's or g++'s, an error.
make_error()
{
    case $1 in
    all-warnings) both="$both -Werror" ;;
    cross-execution-space-call | default-stream-launch | missing-launch-bounds | ext-lambda-captures-this)
        ignore "-Werror $1" "g++ has no such warning"
        ;;
    *) both="$both$(quote "-Werror=$1")" ;;
    esac
}

while [ $# -gt 0 ]; do
    option=$1 name=${1%%=*} value=${1#*=}
    shift
    case $option in
    -o | --output-file | -run | --run | -run-args | --run-args | --) ;; # no effect on the program
    *) asked="$asked$(quote "$option")" ;;
    esac

    # Options with a value, which may be the next argument.
    case $name in
    -o | --output-file | -MF | --dependency-output | -MT | -MQ | --dependency-target-name | \
        -I | --include-path | -isystem | --system-include | -include | --pre-include | \
        -D | --define-macro | -U | --undefine-macro | -L | --library-path | -l | --library | \
        -O | --optimize | -std | --std | -x | --x | -odir | --output-directory | \
        -ccbin | --compiler-bindir | -Xcompiler | --compiler-options | -Xlinker | --linker-options | \
        -run-args | --run-args | -fmad | --fmad | -rdc | --relocatable-device-code | -m | --machine | \
        -arch | --gpu-architecture | -code | --gpu-code | -gencode | --generate-code | \
        -Xptxas | --ptxas-options | -Xnvlink | --nvlink-options | -Xarchive | --archive-options | \
        -maxrregcount | --maxrregcount | -e | --entries | -dopt | --dopt | -opt-info | --optimization-info | \
        -ftz | --ftz | -prec-div | --prec-div | -prec-sqrt | --prec-sqrt | \
        -default-stream | --default-stream | -cudart | --cudart | -cudadevrt | --cudadevrt | \
        -t | --threads | -split-compile | --split-compile | -keep-dir | --keep-dir | \
        -ldir | --libdevice-directory | -target-dir | --target-directory | -arbin | --archiver-binary | \
        -diag-error | --diag-error | -diag-suppress | --diag-suppress | -diag-warn | --diag-warn | \
        -brief-diag | --brief-diagnostics | -compress-mode | --compress-mode | -time | --time)
        if [ "$name" = "$option" ]; then
            [ $# -gt 0 ] || fail "$name needs a value"
            value=$1
            shift
            case $name in
            -o | --output-file | -run-args | --run-args) ;;
            *) asked="$asked$(quote "$value")" ;;
            esac
        fi
        ;;
    esac

    case $name in
    # Actions.
    -h | --help | -help) cat "$here/compiler/driver/help.txt" && exit ;;
    -V | --version) only=version ;;
    --portable) portable=-portable ;;
    --runtime-only) only=runtime ;;
    --count | --check)
        [ "${instrument:-${name#--}}" = "${name#--}" ] ||
            fail "--count and --check are for two programs: build each by itself"
        instrument=${name#--} ;;
    --by-line) fail "--by-line is an option of steps: a program that is built with --count prints its lines where CUDACPU_BY_LINE=1 is set" ;;
    -c | --compile | -dc | --device-c | -dw | --device-w) compile_only=1 ;;
    -dlink | --device-link) only=dlink ;;
    -link | --link) ;;
    -lib | --lib) archive=1 compile_only=1 ;;
    -E | --preprocess) stop=-E ;;
    -M | --generate-dependencies) stop=-M ;;
    -MM | --generate-nonsystem-dependencies) stop=-MM ;;
    -MD | --generate-dependencies-with-compile) deps=-MD ;;
    -MMD | --generate-nonsystem-dependencies-with-compile) deps=-MMD ;;
    -MP | --generate-dependency-targets) pre="$pre -MP" ;;
    -run | --run) run=1 ;;
    --)
        for word in "$@"; do run_arguments="$run_arguments$(quote "$word")"; done
        shift $#
        ;;

    # Values.
    -o | --output-file) out=$value ;;
    -odir | --output-directory) folder=$value/ ;;
    -MF | --dependency-output) depfile=$value ;;
    -MT | -MQ | --dependency-target-name) target=$value ;;
    -run-args | --run-args) run_arguments="$run_arguments$(each '' "$value")" ;;
    -x | --x) kind=$value ;;
    -ccbin | --compiler-bindir) CXX=$([ -d "$value" ] && echo "$value/g++" || echo "$value") ;;
    -I | --include-path) eval "for f in $(each '' "$value"); do include \"\$f\"; done" ;;
    -isystem | --system-include) eval "for f in $(each '' "$value"); do pre=\"\$pre -isystem\$(quote \"\$f\")\"; done" ;;
    -include | --pre-include) pre="$pre -include$(quote "$value")" ;;
    -D | --define-macro) pre="$pre$(quote "-D$value")" ;;
    -U | --undefine-macro) pre="$pre$(quote "-U$value")" ;;
    -L | --library-path) link="$link$(each -L "$value")" ;;
    -l | --library) eval "for f in $(each '' "$value"); do add_library \"\$f\"; done" ;;
    -Xlinker | --linker-options) link="$link$(quote "-Wl,$value")" ;;
    -Xcompiler | --compiler-options) both="$both$(each '' "$value")" ;;
    -std | --std)
        case $value in
        *03 | *11 | *14)
            std=-std=${value%??}17
            ignore "-std=$value" "the headers here need C++17, which it is compiled as"
            ;;
        *) std=-std=$value ;;
        esac
        ;;
    -O | --optimize) opt=-O$value ;;
    -Ofc | --Ofast-compile | -Ofast-compile) ignore "$name" "-O0 to -O3 choose how g++ optimizes" ;;
    -O*) opt=$option ;;
    -fmad | --fmad) fmad=$value ;;
    -Werror)
        case $option${1:+ $1} in
        -Werror=*) make_error "$value" ;;
        *\ all-warnings | *\ cross-execution-space-call | *\ reorder | *\ default-stream-launch | \
            *\ missing-launch-bounds | *\ ext-lambda-captures-this | *\ deprecated-declarations)
            asked="$asked $1"
            make_error "$1"
            shift
            ;;
        *) both="$both -Werror" ;;
        esac
        ;;
    --disable-warnings) both="$both -w" ;;
    --profile) both="$both -pg" ;;
    --debug) both="$both -g" ;;
    --verbose) both="$both -v" ;;

    # On by default here.
    -m64 | --m64 | -m | --machine | -rdc | --relocatable-device-code | \
        -expt-relaxed-constexpr | --expt-relaxed-constexpr | -Wno-deprecated-gpu-targets | --Wno-deprecated-gpu-targets | \
        -forward-unknown-to-host-compiler | --forward-unknown-to-host-compiler | -forward-unknown-opts | \
        -allow-unsupported-compiler | --allow-unsupported-compiler | -nohdinitlist | -nohdmoveforward) ;;
    --extended-lambda | -extended-lambda | --expt-extended-lambda | -expt-extended-lambda)
        lambda=-D__CUDACC_EXTENDED_LAMBDA__
        ;;

    # Options about a GPU, or about nvcc itself.
    -arch | --gpu-architecture | -code | --gpu-code | -gencode | --generate-code)
        ignore "$name" "the one device here is this CPU; -D__CUDA_ARCH__=800 takes the code for 8.0"
        ;;
    -G | --device-debug) ignore "$name" "-g -O0 lets a debugger step through kernels" ;;
    -lineinfo | --generate-line-info) ignore "$name" "lines are known without it" ;;
    -use_fast_math | --use_fast_math | -ftz | --ftz | -prec-div | --prec-div | -prec-sqrt | --prec-sqrt)
        ignore "$name" "operators and functions stay as exact as without it"
        ;;
    -Xptxas | --ptxas-options | -Xnvlink | --nvlink-options | -maxrregcount | --maxrregcount | -dopt | --dopt | \
        -res-usage | --resource-usage | -opt-info | --optimization-info | -dlto | --dlink-time-opt | -lto | --lto | \
        -e | --entries | -ewp | --extensible-whole-program | -restrict | --restrict | \
        -split-compile | --split-compile | -src-in-ptx | --source-in-ptx | -no-compress | -compress-mode | --compress-mode | \
        -nodlink | --no-device-link | -keep-device-functions | -extra-device-vectorization | -ldir | --libdevice-directory)
        ignore "$name" "no code for a GPU is made"
        ;;
    -default-stream | --default-stream) ignore "$name" "work is done when its call returns, on any stream" ;;
    -cudart | --cudart | -cudadevrt | --cudadevrt) ignore "$name" "the runtime is always linked" ;;
    -t | --threads | -t[0-9]*) ignore "$name" "files are compiled one after the other" ;;
    -Xarchive | --archive-options | -arbin | --archiver-binary | -target-dir | --target-directory | \
        -keep | --keep | -keep-dir | --keep-dir | -save-temps | --save-temps | -objtemp | --objdir-as-tempdir | \
        -time | --time | -noprof | --dont-use-profile)
        ignore "$name" "cudacc has nothing that it could change"
        ;;
    -diag-error | --diag-error | -diag-suppress | --diag-suppress | -diag-warn | --diag-warn | \
        -err-no | --display-error-number | -no-err-no | --no-display-error-number | -brief-diag | --brief-diagnostics | \
        -Wreorder | --Wreorder | -Wdefault-stream-launch | --Wdefault-stream-launch | \
        -Wmissing-launch-bounds | --Wmissing-launch-bounds | -Wext-lambda-captures-this)
        ignore "$name" "warnings are those of g++; -Wall and -Wno-NAME choose them"
        ;;
    -ptx | --ptx | -cubin | --cubin | -fatbin | --fatbin | -cuda | --cuda | -optix-ir | --optix-ir | -ltoir | --ltoir)
        fail "$name is not supported: no code for a GPU is made here"
        ;;
    -dryrun | --dryrun) fail "$name is not supported: -v shows what g++ does" ;;
    -shared | --shared) fail "$name is not supported: the runtime is made for programs; -lib makes an archive" ;;
    -optf | --options-file | -clean | --clean-targets | -r | --relocatable-link | -sanitize | --sanitize)
        fail "$name is not supported"
        ;;

    # Options with the value attached, and options of g++.
    -I*) include "${option#-I}" ;;
    -D* | -U*) pre="$pre$(quote "$option")" ;;
    -l*) add_library "${option#-l}" ;;
    -L* | -Wl,*) link="$link$(quote "$option")" ;;
    -g* | -W* | -w | -f* | -m* | -p | -pg | -pipe | -pthread | -v) both="$both$(quote "$option")" ;;
    -*) unknown "$option" ;;
    *.cu | *.cpp | *.cc | *.cxx | *.c | *.o | *.a | *.so) add_input "$option" ;;
    *)
        [ -n "$kind" ] || fail "unknown kind of file: $option (need .cu, .cpp, .c, .o or .a, or -x cu in front$(
            case $option:$run in
            run:* | count:* | check:*) echo "; the option is --$option" ;;
            *:?*) echo "; arguments of the program come behind --" ;;
            esac
        ))"
        add_input "$option"
        ;;
    esac
done
[ "$fmad" != true ] || [ "$instrument" = check ] || ignore -fmad=true "only --check joins a product and a sum"
