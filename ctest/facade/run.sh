#!/usr/bin/env bash
# A made-up vendor API is added to a copy of the tree: a table file, a package with its behaviour, nothing else. The
# generator, the build and every kind of test then work for it, its stub libraries and its driver.
#
# usage: run.sh [arm64]. With arm64 the library is built for arm64 and its hosts run under emulation: structs by value
# go other ways there.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
unset BUILD
here=$PWD/ctest/facade
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tree"
cp -r --parents go.mod go.sum Makefile core backends capi cmd/anynpu-remote internal scripts bench/bench.mk \
  ctest/misuse.h ctest/host_end.h include "$dir/tree"
cp "$here/testdata/table_toy.go" "$dir/tree/capi/abi/"
cp "$here/testdata/toy.json" "$dir/tree/capi/abi/abicheck/"
cp -r "$here/testdata/toy" "$dir/tree/capi/toy"
cd "$dir/tree"

build_libs() { make libs > "$dir/make.log" 2>&1 || { cat "$dir/make.log"; exit 1; }; }
go run ./capi/abi/gen
export ANYNPU_LOG_FILE=$dir/log
warnings=(-Wall -Wextra -Werror)

if [ "${1:-}" = arm64 ]; then
  need=$here/../../scripts/need.sh
  "$need" '?aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu,libc6-dev-arm64-cross' '?qemu-aarch64:qemu-user' > /dev/null
  for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool > /dev/null ||
      { echo "SKIP: $tool is not installed (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"; exit 0; }
  done
  export GOARCH=arm64 CC=aarch64-linux-gnu-gcc BUILD=build/arm64
  build_libs
  lib=$dir/tree/build/arm64/lib
  $CC -O2 -shared -fPIC "${warnings[@]}" -I"$here" -o "$dir/driver.so" "$here/driver.c" -lpthread
  $CC "${warnings[@]}" -g1 -O1 -D_GNU_SOURCE -I"$here" -Iinclude -Ictest -L"$lib" -Wl,-rpath,"$lib" -rdynamic \
    "$here/host.c" -o "$dir/host" -lanynpu -lpthread
  for mode in alone moved "moved $dir/driver.so" "device $dir/driver.so"; do
    # shellcheck disable=SC2086 # a mode and its argument
    QEMU_LD_PREFIX=/usr/aarch64-linux-gnu timeout 300 qemu-aarch64 "$dir/host" $mode ||
      { echo "arm64: $mode: failed"; exit 1; }
  done
  echo "arm64: a driver's and the library's own functions, alone, moved and as a device"
  exit 0
fi

build_libs
lib=$dir/tree/build/lib
flags=("${warnings[@]}" -g1 -O1 -D_GNU_SOURCE -I"$here" -Iinclude -Ictest -L"$lib" -Wl,-rpath,"$lib")

# Names: a function without behaviour is not exported; the stub library has its version.
! nm -D "$lib"/*.so | grep > /dev/null toy_later || { echo "toy_later has no behaviour and is exported"; exit 1; }
grep -q 'toy_later` | 3 | no' docs/support.md || { echo "the support matrix lacks toy_later"; exit 1; }
nm -D --with-symbol-versions "$lib/libtoy.so" | grep > /dev/null 'T toy_add@@TOY_1.0' ||
  { echo "libtoy.so has no symbol version"; exit 1; }
nm -D --with-symbol-versions "$lib/libtoy_alias.so" | grep > /dev/null 'T toy_add$' ||
  { echo "libtoy_alias.so has a symbol version"; exit 1; }

# Linked against each name: the core library alone, and a vendor's names.
gcc -O2 -shared -fPIC -Wall -Wextra -Werror -I"$here" -o "$dir/driver.so" "$here/driver.c" -lpthread
gcc -O2 -shared -fPIC -Wall -Wextra -Werror -I"$here" -nostdlib -o "$dir/namespace.so" "$here/namespace.c"
# A vendor's library can need another of the name that the core library has.
gcc -O2 -shared -fPIC -Wall -Wextra -Werror -I"$here" -o "$dir/needs_core.so" "$here/driver.c" -lpthread -L"$lib" \
  -Wl,--no-as-needed -lanynpu
for name in anynpu toy toy_alias; do
  gcc "${flags[@]}" -rdynamic "$here/host.c" -o "$dir/host_$name" -l$name -lanynpu -lpthread
  "$dir/host_$name" alone
  "$dir/host_$name" moved
  for mode in driver first device moved race inner early slow; do "$dir/host_$name" $mode "$dir/driver.so"; done
  "$dir/host_$name" driver "$dir/needs_core.so"
  TOY_NAMESPACE=1 "$dir/host_$name" namespace "$dir/namespace.so"
  ANYNPU_LOG=trace "$dir/host_$name" watched "$dir/driver.so"
  ANYNPU_CHECK=pointers "$dir/host_$name" watched "$dir/driver.so"
  for self in libtoy.so libanynpu.so.0; do timeout 600 "$dir/host_$name" self "$lib/$self"; done
done
gcc "${flags[@]}" ctest/zprototypes_toy.c -Wl,--unresolved-symbols=ignore-all -o "$dir/prototypes" -lanynpu
gcc "${flags[@]}" ctest/zmisuse_toy.c -o "$dir/misuse" -lanynpu
"$dir/misuse"
grep -q 'toy: panic function=toy_open' "$dir/log" || { echo "the panic was not logged"; cat "$dir/log"; exit 1; }

echo "one table file and four Go functions: exported, routed, checked"
