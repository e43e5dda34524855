#!/usr/bin/env bash
# usage: run.sh LIBDIR [BASELINE]
# Builds and runs every C benchmark of this folder against the libraries in LIBDIR. BASELINE is another LIBDIR, of
# another commit, whose calls are measured by turns with these.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
root=$here/../..
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for source in "$here"/*.c; do
  name=$(basename "$source" .c)
  gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$root/include" -I"$root/ctest" -L"$lib" -Wl,-rpath,"$lib" "$source" \
    -o "$dir/$name" \
    -lanynpu -lpthread -lm
  case $name in
  against) ;;
  driver)
    echo "--- $name"
    gcc -O2 -shared -fPIC -I"$root/include" "$here/driver/nothing.c" -o "$dir/librknnrt.so"
    XDG_CACHE_HOME=$dir ANYNPU_LOG=off "$dir/driver" "$dir/librknnrt.so" "$root/examples/digits/digits.onnx"
    ;;
  device)
    echo "--- $name"
    gcc -O2 -D_GNU_SOURCE -I"$root/include" -I"$root/ctest/drivers" -shared -fPIC -DCALLS='"zcalls_ohnn.h"' \
      -DCOMPUTE='"nnrt.h"' \
      "$root/ctest/drivers/fake.c" -o "$dir/libneural_network_runtime.so" -lpthread -lm
    XDG_CACHE_HOME=$dir ANYNPU_LOG=off "$dir/device" "$dir/libneural_network_runtime.so"
    ;;
  *)
    echo "--- $name"
    "$dir/$name"
    ;;
  esac
done
if [ -n "${2-}" ]; then
  echo "--- against"
  "$dir/against" "$lib" "$(cd "$2" && pwd)"
fi
