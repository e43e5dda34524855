#!/usr/bin/env bash
# usage: run.sh [arm64]
# Fake drivers with the vendors' SONAMEs behind a library that has a decider for each (testdata/fakes.go): every
# argument of every function arrives. A copy of the glue in which arguments are swapped is found. With arm64 the library
# for that machine is built and runs under qemu; the glue is the same, so that nothing is swapped there.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
unset BUILD
cc=gcc label='' emulator=()
if [ "${1:-}" = arm64 ]; then
  export GOARCH=arm64 CC=aarch64-linux-gnu-gcc QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
  cc=$CC label='arm64: ' emulator=(qemu-aarch64)
fi
here=$PWD/ctest/drivers
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tree"
cp -r --parents go.mod go.sum Makefile core backends capi cmd/anynpu-remote internal include scripts bench/bench.mk \
  "$dir/tree"
cp "$here/testdata/fakes.go" "$dir/tree/capi/"
make_library() { make -C "$dir/tree" --no-print-directory libs > "$dir/make.log" 2>&1 || { cat "$dir/make.log"; exit 1; }; }
make_library
lib=$dir/tree/build/lib
export ANYNPU_LOG_FILE=/dev/null
flags=(-Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest -I"$here")

for row in rknn:librknnrt.so:rknn_context ohnn:libneural_network_runtime.so:NN_TensorDesc \
  hbdnn:libdnn.so:hbDNNHandle_t hbucp:libhbucp.so:hbDNNHandle_t \
  nnapi:libneuralnetworks.so:ANeuralNetworksModel; do
  IFS=: read -r api soname kind <<< "$row"
  mkdir -p "$dir/$api"
  "$cc" "${flags[@]}" -shared -fPIC -DCALLS="\"zcalls_$api.h\"" "$here/fake.c" -o "$dir/$api/$soname" \
    -Wl,-soname,"$soname" -lpthread
  "$cc" "${flags[@]}" -Wno-unused-function -DAPI="\"$api\"" -DCALLS="\"zcalls_$api.h\"" -DMISUSE="\"misuse_$api.h\"" \
    -DMAKE="make_$kind" -DDROP="drop_$kind" \
    -DLIBRARY="\"$lib/libanynpu.so.0\"" "$here/fidelity.c" -o "$dir/fidelity_$api" -L"$lib" -Wl,-rpath,"$lib" -lanynpu
  timeout 600 "${emulator[@]}" "$dir/fidelity_$api" "$dir/$api/$soname" | sed "s/^/$label/"
done
[ "$cc" = gcc ] || exit 0

# Swapped: two addresses in the router of rknn_set_io_mem, two numbers on rknn_init's way through Go.
router=$(awk '/"rknn_set_io_mem"/ {print n} /^static const char \*const name/ {n = -1; on = 1} on {n++}' "$dir/tree/capi/zimage.c")
sed -i "/^MIXED(int32_t, return, $router,/{n;s/(a0, a1, a2)/(a0, a2, a1)/}" "$dir/tree/capi/zimage.c"
sed -i '/^static int32_t forward_rknn_init(/,/^}/s/)f)(a0, a1, a2, a3, a4)/)f)(a0, a1, a3, a2, a4)/' \
  "$dir/tree/capi/rknn/zexport.go"
make_library
! timeout 600 "$dir/fidelity_rknn" "$dir/rknn/librknnrt.so" > "$dir/swapped" ||
  { echo "swapped arguments were not found"; exit 1; }
for found in 'rknn_set_io_mem, mixed:' 'rknn_init, pass-through:'; do
  grep -q "^$found" "$dir/swapped" || { echo "not found: $found"; cat "$dir/swapped"; exit 1; }
done
tail -1 "$dir/swapped" | grep -q '35 of 37 functions' ||
  { echo "other functions failed too"; cat "$dir/swapped"; exit 1; }
echo "swapped arguments are found"
