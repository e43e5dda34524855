#!/usr/bin/env bash
# Installs by make and by cmake into empty roots and builds and runs a program against each through pkg-config's file.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make --no-print-directory install PREFIX=/opt/anynpu DESTDIR="$dir/make" > /dev/null
cmake --install "$build/cmake" --prefix "$dir/cmake/opt/anynpu" > /dev/null
(cd include && find . -name '*.h' | LC_ALL=C sort) > "$dir/headers"
for how in make cmake; do
  root=$dir/$how/opt/anynpu
  (cd "$root/include" && find . -name '*.h' | LC_ALL=C sort) | diff "$dir/headers" - || { echo "$how: headers differ"; exit 1; }
  pc=$(find "$root" -name anynpu.pc)
  libdir=$(dirname "$(dirname "$pc")")
  include=$(dirname "$pc")/$(sed -n 's|^includedir=${pcfiledir}/||p' "$pc")
  [ "$(realpath "$include")" = "$root/include" ] || { echo "$how: anynpu.pc points to $include"; exit 1; }
  [ -f "$root/share/anynpu/valgrind.supp" ] || { echo "$how: no suppressions"; exit 1; }
  for name in neural_network_core neural_network_runtime; do
    gcc -D_GNU_SOURCE -Ictest -I"$root/include" ctest/link.c -o "$dir/link" -L"$libdir" -Wl,-rpath,"$libdir" -l$name
    ANYNPU_LOG_FILE=/dev/null "$dir/link"
  done
done
echo "make and cmake install the same headers, and libraries that work"
