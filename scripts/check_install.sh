#!/usr/bin/env bash
# Installs by make and by cmake into empty roots, under a strict umask, and builds and runs a program of each API against each through its
# pkg-config file.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
umask 077
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make --no-print-directory install PREFIX=/opt/anynpu DESTDIR="$dir/make" > /dev/null
cmake --install "$build/cmake" --prefix "$dir/cmake/opt/anynpu" > /dev/null
(cd include && find . -name '*.h' | LC_ALL=C sort) > "$dir/headers"

# field FILE KEY: a value of a pkg-config file, in which pcfiledir is the only name from outside
field() {
  local value
  value=$(sed -n "s|^$2[=:] *||p" "$1")
  value=${value//'${libdir}'/$(sed -n 's|^libdir=||p' "$1")}
  value=${value//'${includedir}'/$(sed -n 's|^includedir=||p' "$1")}
  echo "${value//'${pcfiledir}'/$(dirname "$1")}"
}

for how in make cmake; do
  root=$dir/$how/opt/anynpu
  (cd "$root/include" && find . -name '*.h' | LC_ALL=C sort) | diff "$dir/headers" - || { echo "$how: headers differ"; exit 1; }
  unreadable=$(find "$dir/$how" -type f ! -perm -o=r) # the folders are CMake's to make
  [ -z "$unreadable" ] || { echo "$how: installed for its owner only: $unreadable"; exit 1; }
  [ -f "$root/share/anynpu/valgrind.supp" ] || { echo "$how: no suppressions"; exit 1; }
  pc=$(find "$root" -name anynpu.pc)
  libdir=$(dirname "$(dirname "$pc")")
  [ "$(realpath "$(field "$pc" includedir)")" = "$root/include" ] || { echo "$how: anynpu.pc: includedir $(field "$pc" includedir)"; exit 1; }
  for name in neural_network_core neural_network_runtime; do
    gcc -D_GNU_SOURCE -Ictest -I"$root/include" ctest/link.c -o "$dir/link" -L"$libdir" -Wl,-rpath,"$libdir" -l$name
    ANYNPU_LOG_FILE=/dev/null "$dir/link"
  done
  # program SOURCE PACKAGE LIBRARY ARGS...: built with the package's flags, needs LIBRARY, runs
  program() {
    local source=$1 file needed
    file=$(dirname "$pc")/$2.pc needed=$3; shift 3
    gcc $(field "$file" Cflags) "examples/$source.c" -o "$dir/$source" $(field "$file" Libs) -lm -Wl,-rpath,"$libdir"
    readelf -d "$dir/$source" | grep -q "NEEDED.*\[$needed\]" || { echo "$how: $file does not lead to $needed"; exit 1; }
    "$dir/$source" "$@" > /dev/null
  }
  program ohnn_first anynpu libneural_network_core.so
  program rknn_digits anynpu-rknn librknnrt.so examples/digits/digits.onnx examples/digits/images/*.pgm
done
echo "make and cmake install the same headers, and libraries that work"
