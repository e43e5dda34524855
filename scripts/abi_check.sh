#!/usr/bin/env bash
# usage: abi_check.sh BASELINE NEW
# Compares what programs that were linked with the library BASELINE need with what NEW has: the SONAME, each exported
# name with its symbol version, its kind and, of data, its size. Names that are new are told and are no error. Types are
# compared where abidiff of libabigail is installed and both files have debugging information.
set -euo pipefail
fail() { echo "abi_check: $*" >&2; exit 2; }
[ $# = 2 ] || fail "usage: abi_check.sh BASELINE NEW"
for file in "$@"; do
  [ -f "$file" ] || fail "$file is no file"
  readelf -h "$file" > /dev/null 2>&1 || fail "$file is no ELF file"
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

soname() { readelf -dW "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'; }

machine() { readelf -hW "$1" | sed -n 's/^ *Machine: *//p'; }

# A line per name: NAME[@VERSION] KIND [SIZE]. @@ marks the version that a linker takes, which may change.
exported() {
  LC_ALL=C readelf -W --dyn-syms "$1" | awk '
    $1 ~ /^[0-9]+:$/ && $7 != "UND" && $7 != "ABS" && ($5 == "GLOBAL" || $5 == "WEAK") && $6 ~ /^(DEFAULT|PROTECTED)$/ {
      name = $8; sub(/@@/, "@", name)
      print name, $4, ($4 == "OBJECT" || $4 == "TLS") ? $3 : ""
    }' | LC_ALL=C sort -u
}

wrong=0
[ "$(machine "$1")" = "$(machine "$2")" ] || fail "$1 is for $(machine "$1"), $2 for $(machine "$2")"
if [ "$(soname "$1")" != "$(soname "$2")" ]; then
  echo "SONAME: was \"$(soname "$1")\", is \"$(soname "$2")\""
  wrong=1
fi
exported "$1" > "$dir/old"
exported "$2" > "$dir/new"
while read -r name kind size; do
  now=$(awk -v name="$name" '$1 == name {print $2, $3; exit}' "$dir/new")
  if [ -z "$now" ]; then
    bare=${name%%@*}
    other=$(awk -v bare="$bare" '{split($1, part, "@")} part[1] == bare {print $1; exit}' "$dir/new")
    echo "$name: gone${other:+, there is $other}"
  else
    echo "$name: was $kind${size:+ of $size bytes}, is $now"
  fi
  wrong=1
done < <(LC_ALL=C comm -23 "$dir/old" "$dir/new")
added=$(LC_ALL=C comm -13 <(cut -d' ' -f1 "$dir/old" | LC_ALL=C sort) <(cut -d' ' -f1 "$dir/new" | LC_ALL=C sort) | wc -l)
types="types not compared: abidiff is not installed"
if command -v abidiff > /dev/null; then
  types="types not compared: no debugging information"
  if readelf -SW "$1" | grep '\.debug_info' > /dev/null && readelf -SW "$2" | grep '\.debug_info' > /dev/null; then
    types="types compared"
    code=0
    abidiff --no-added-syms "$1" "$2" || code=$?
    # bits: 1 an error, 2 wrong usage, 4 a change, 8 one that is incompatible
    if (( code & 3 )); then fail "abidiff ended with code $code"; fi
    if (( code & 8 )); then wrong=1; fi
  fi
fi
echo "$(wc -l < "$dir/old") names before, $(wc -l < "$dir/new") now, $added new; $types"
exit $wrong
