#!/usr/bin/env bash
# Builds the libraries for arm64 and runs the hosts that an emulator can judge under qemu. It has threads and signals of
# its own, so load, and the part of fork_after that executes a program, are left to a real machine.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
  command -v $tool > /dev/null || { echo "skipped: $tool is not installed (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"; exit 0; }
done
build=$build/arm64
lib=$build/lib
mkdir -p "$build"
GOARCH=arm64 CC=aarch64-linux-gnu-gcc BUILD=${BUILD:-build}/arm64 make --no-print-directory libs > "$build.log" 2>&1 ||
  { cat "$build.log"; exit 1; }
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu ANYNPU_LOG_FILE=/dev/null
flags=(-O1 -g -D_GNU_SOURCE -Iinclude -Ictest -L"$lib" -Wl,-rpath,"$lib")

host() { # SOURCE LIBRARY ARGS...
  local source=$1 library=$2; shift 2
  aarch64-linux-gnu-gcc "${flags[@]}" "ctest/$source.c" -o "$build/$source" $(printf -- "-l%s " $library) \
    -Wl,--as-needed -lanynpu -lpthread -lm
  timeout 300 qemu-aarch64 "$build/$source" "$@" || { echo "arm64: $source $*: failed"; exit 1; }
  echo "arm64: $source $*: ok"
}

# Loaders may let indirect calls of the stubs reach marked places only.
for stub in "$lib"/lib*.so; do
  [ -L "$stub" ] || aarch64-linux-gnu-readelf -n "$stub" | grep -qF 'AArch64 feature: BTI' ||
    { echo "arm64: $stub does not say that its entries are marked"; exit 1; }
done

QEMU_CPU=max host link neural_network_runtime # a processor with BTI
host fork_before anynpu
host signals anynpu signalfd before
host signals anynpu thread before
host race anynpu
host busy anynpu
host link anynpu
host link neural_network_runtime
host window anynpu 0
host segv anynpu
for choice in 0 1 2 3; do host floats anynpu $choice; done # traps are not built into most processors
host inside anynpu stack "$build/inside.txt"
host logging anynpu trace "$build/log.txt"
for source in ctest/zmisuse_*.c; do host "$(basename "$source" .c)" anynpu; done
for version in 1.9 1.12 1.14 1.18 1.23; do ANYNPU_HBDNN_ABI=$version host hbdnn_generations dnn $version; done
host hbucp_style "hbucp dnn"
host hbucp_tasks "hbucp dnn" 50
ctest/drivers/run.sh arm64
