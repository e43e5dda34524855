#!/usr/bin/env bash
# usage: check_libraries.sh LIBDIR
# Compares what the built libraries export, are called and need with the generated lists.
set -euo pipefail
cd "$(dirname "$0")/.."
lib=$1
fail() { echo "check_libraries: $*"; exit 1; }

check() { # FILE LIST NEEDED...
  local file=$1 list=$2 soname=${1##*/}; shift 2
  [ -f "$file" ] || fail "$file is missing"
  diff <(grep -v '^#' "$list" | LC_ALL=C sort) \
    <(nm -D --defined-only "$file" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | LC_ALL=C sort) \
    || fail "$file exports other names than $list"
  grep -q "SONAME.*\[$soname\]" <(readelf -d "$file") || fail "$file has another SONAME"
  local needed
  needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | xargs)
  [ "$needed" = "$*" ] || fail "$file needs '$needed', want '$*'"
  ! grep -q TEXTREL <(readelf -d "$file") || fail "$file has text relocations"
  readelf -lW "$file" | grep GNU_STACK | grep -qv E || fail "$file asks for an executable stack"
  grep -q GNU_RELRO <(readelf -lW "$file") || fail "$file keeps its tables of addresses writable"
  grep -q AnyNPU <(readelf -nW "$file" 2> /dev/null) ||
    fail "$file lacks the note by which the library knows its own files"
  grep -q 'FLAGS.*NOW' <(readelf -dW "$file") || fail "$file binds names late, so its table of addresses stays writable"
}

check "$lib/libanynpu.so.0" capi/zcore.symbols libc.so.6
for list in capi/stub/z*.symbols; do
  name=$(basename "$list" .symbols); name=${name#z}
  check "$lib/$name.so" "$list" libanynpu.so.0
  grep -q 'RUNPATH.*\[\$ORIGIN:\$ORIGIN/\.\.\]' <(readelf -d "$lib/$name.so") ||
    fail "$name.so does not look beside itself"
done
# The C code before Go: buffers on the stack are guarded, calls that write into them are checked. Stub libraries have no
# stack.
for name in __stack_chk_fail __snprintf_chk; do
  grep -qw "$name" <(nm -D --undefined-only "$lib/libanynpu.so.0") || fail "the core library is built without $name"
done
! grep -q 'R.*PATH' <(readelf -d "$lib/libanynpu.so.0") || fail "the core library has a RUNPATH"
echo "names, SONAMEs and dependencies are as generated"
