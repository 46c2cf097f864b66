# cache.sh: reuses a program that was built from the same files. Sourced by cudacc.
#
# The name of an entry is a hash of the command line, the compiler and the folders. The entry is valid as long
# as each file that was read has the same checksum: the user's files, headers, and the parts of cudacc and its
# runtime that were used. A new file that the compiler would now find first, in an earlier folder of -I, goes
# unnoticed. CUDACPU_CACHE=0 switches the cache off.

cache=$root/programs
kept=100 # entries, the most recently used

sum=$(command -v sha256sum >/dev/null && echo sha256sum || echo shasum -a 256)

# True if the result can be kept; then sets $key, the name of its entry. $1 is the compiler's version.
cacheable()
{
    version_asked=$1
    [ "${CUDACPU_CACHE-1}" != 0 ] && [ -z "$deps$stop$archive" ] || return 1
    eval "set -- $inputs"
    [ -z "$compile_only" ] || [ $# -eq 1 ] || return 1
    key=$(printf '%s\n' "$PWD" "$here" "$build" "$CXX" "$version_asked" "$CC" "$asked" "${CPATH-}" \
        "${C_INCLUDE_PATH-}" "${CPLUS_INCLUDE_PATH-}" "${LIBRARY_PATH-}" "${COMPILER_PATH-}" "${LANG-}" \
        "${LC_ALL-}" | $sum) && key=${key%% *}
}

# Copies the kept result and the compilers' messages to $work; false if there is none.
find_cached()
{
    entry=
    for entry in "$cache/$key".*; do :; done
    [ -e "$entry/sums" ] || return 1
    ! grep -q '/blas\.o$' "$entry/sums" || bring_up_blas
    $sum -c --status "$entry/sums" 2>/dev/null &&
        cp "$entry/result" "$entry/said" "$work" 2>/dev/null || return 1
    touch -c "$entry" 2>/dev/null || : # mark as recently used
    cat "$work/said" >&2
}

# The files that the make rules in the files $1... name, one per line.
files_of()
{
    awk '{ gsub(/\\ /, "\001"); gsub(/\$\$/, "$"); sub(/\\$/, "")
        n = split($0, word, " ")
        for (i = 1; i <= n; i++) {
            gsub(/\001/, " ", word[i])
            if (word[i] != "it:")
                print word[i]
        } }' "$@"
}

# Keeps $work/result, unless it depends on the time of compilation.
keep_cached()
{
    {
        eval "printf '%s\n' $inputs"
        own_scripts
        precompiled_files
        for goal in $needed; do echo "$build/${goal#build/}"; done
        for file in "$work"/*.d; do
            [ ! -e "$file" ] || files_of "$file"
        done
        eval "set -- $link"
        for folder in "$@"; do
            for library in "$@"; do
                case $folder,$library in
                -L*,-l*) ls "${folder#-L}/lib${library#-l}".* 2>/dev/null || : ;;
                esac
            done
        done
    } | sort -u >"$work/files"
    ! tr '\n' '\0' <"$work/files" | xargs -0 grep -lE '__(DATE|TIME|TIMESTAMP)__' | grep -qv '^/usr/' ||
        return
    new=$cache/new.$$
    mkdir -p "$new" && tr '\n' '\0' <"$work/files" | xargs -0 $sum >"$new/sums" &&
        cp "$work/result" "$work/said" "$new" || return
    {
        rm -rf "$cache/$key".*
        mv "$new" "$cache/$key.$$"
        ls -t "$cache" | tail -n +$((kept + 1)) | while read -r old; do rm -rf "${cache:?}/$old"; done
    } 2>/dev/null
}
