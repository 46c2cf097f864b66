#!/bin/sh
# compile.sh COMMAND: runs a command that compiles a reader's file. Errors are the compiler's; a warning is one line,
# however many instances of a template have it.
log=$(mktemp "${TMPDIR:-/tmp}/compile.XXXXXX")
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$@" 2>"$log"
code=$?
if [ $code = 0 ]; then
    grep '^work/.*: warning: ' "$log" | sort -u >&2
else
    cat "$log" >&2
fi
exit $code
