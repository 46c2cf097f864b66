# cache.sh: a program that was built before from the same files is taken as it is. Sourced by cudacc.
#
# An entry is named by what was asked for, by which compiler and where. It is good while each file that
# was read still has its sum: the user's, headers, and what of cudacc itself and its runtime was used. A new file that a compiler would now find first goes unseen, as one folder
# of -I stands before another. CUDACPU_CACHE=0 does without.

cache=$root/programs
kept=100 # entries, those that were used last

sum=$(command -v sha256sum >/dev/null && echo sha256sum || echo shasum -a 256)

# Whether the result is one that can be kept; names its entry. The compiler $1 is of this version.
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

# The result of last time, with what the compilers said, to $work; false if there is none.
find_cached()
{
    entry=
    for entry in "$cache/$key".*; do :; done
    [ -e "$entry/sums" ] || return 1
    ! grep -q '/blas\.o$' "$entry/sums" || bring_up_blas
    $sum -c --status "$entry/sums" 2>/dev/null &&
        cp "$entry/result" "$entry/said" "$work" 2>/dev/null || return 1
    touch -c "$entry" 2>/dev/null || : # not the next to go
    cat "$work/said" >&2
}

# The files that the rules $1... of make name, one a line.
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

# Keeps $work/result. What depends on the time is not kept.
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
