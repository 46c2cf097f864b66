#!/bin/sh
# Draws one chart:  plots/draw.sh plots/NAME.gp DATADIR OUT.svg
# A script starts with   # alt: what the chart shows, for who cannot see it
# and                    # data: step-02.tsv ceilings.tsv    (in DATADIR: plots/data/<device>)
# or, for a drawing,     # data: none    (it can read no rows and names no device)
# The device in the chart comes from the data's own header. No data, a warning of gnuplot's, or
# nothing found: one line on stderr, exit status 1, and OUT stays as it was.
set -u
script=$1
datadir=$2
out=$3
here=$(dirname "$0")
tmp=$out.$$
trap 'rm -f "$tmp" "$tmp.err"' EXIT

fail() {
    echo "$script: $*" >&2
    exit 1
}

alt=$(sed -n '1,20s/^# alt: *//p' "$script")
data=$(sed -n '1,20s/^# data: *//p' "$script")
[ -n "$alt" ] || fail "has no '# alt:' line among its first 20: say what the chart shows"
[ -n "$data" ] || fail "has no '# data:' line among its first 20: name the files it reads, or none"
device=
if [ "$data" = none ]; then
    data=
    ! grep -qE '(^|[^a-z_])(rows|cell|ceiling|names)\(' "$script" ||
        fail "reads rows, but its '# data:' line says none: name their files"
fi
for name in $data; do
    file=$datadir/$name
    [ -f "$file" ] || fail "$file does not exist (make data records it)"
    awk '!/^#/ && NF { n++ } END { exit n < 2 }' "$file" || fail "$file has no rows"
    this=$(sed -n 's/^# device: *//p' "$file")
    [ -n "$this" ] || fail "$file has no '# device:' line"
    [ -z "$device" ] || [ "$device" = "$this" ] ||
        fail "$file was recorded on $this, another file on $device"
    device=$this
done

mkdir -p "$(dirname "$out")"
# What gnuplot complained of. Of degrees it complains whenever the locale is C; no chart shows any.
heard() {
    grep -v "iconv failed to convert degree sign" "$tmp.err" | grep -v "^ *^* *\$"
}
# gnuplot prints the faulty line before its message, select.awk the file and the fault.
said() {
    heard | grep "^$datadir/" | head -n 1 | grep . || heard | tail -n 1
}
gnuplot -e "datadir='$datadir'; device='$device'; out='$tmp'; plotdir='$here'" "$script" \
    2>"$tmp.err" || fail "$(said)"
[ -z "$(heard)" ] || fail "$(said)"
[ -s "$tmp" ] || fail "draws nothing"
[ -z "$data" ] || grep -qF ">${device%% *}" "$tmp" ||
    fail "does not name the device: keep the title of style.gp, or write set title device ..."
awk -v title="$alt" -f "$here/dress.awk" "$tmp" >"$tmp.err" && mv -f "$tmp.err" "$out"
