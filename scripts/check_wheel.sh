#!/usr/bin/env bash
# Makes the Python wheel of the built libraries, installs it in a new virtual environment, and runs
# python/tests/test_session.py and the tool there. NumPy is fetched; where it cannot be had, the suite is skipped.
# Then the wheel for musl, where its compiler is installed. No Python for musl can be had from Debian, so a C program
# takes its place: it was linked with a vendor's library, and the wheel's tool gives it the wheel's.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
dir=$build/wheel
rm -rf "$dir"
mkdir -p "$dir"
scripts/need.sh '?python3 -m ensurepip --version:python3,python3-venv'
python3 -m venv "$dir/venv" > "$dir/log" 2>&1 || \
  { echo "SKIP: no virtual environment: $(tail -n 1 "$dir/log")"; exit 0; }
"$dir/venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy > "$dir/log" 2>&1 ||
  { echo "SKIP: no NumPy: $(tail -n 1 "$dir/log")"; exit 0; }
version=$(sed -n 's/^#define ANYNPU_VERSION_STRING "\(.*\)"/\1/p' include/anynpu.h)
scripts/install.sh "$dir/tree" "$version" lib include > "$dir/log"
wheel=$(go run ./scripts/packages/wheel "$version" "$dir/tree" "$dir")
"$dir/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$wheel"
PYTHONDONTWRITEBYTECODE=1 "$dir/venv/bin/python" python/tests/test_session.py
"$dir/venv/bin/anynpu" info > "$dir/info"
grep -q "^version *$version$" "$dir/info" || \
  { echo "check_wheel: the tool of the wheel is another: $(head -n 1 "$dir/info")"; exit 1; }
"$dir/venv/bin/anynpu" exec --api rknn -- "$build/examples/rknn_digits" examples/digits/digits.onnx \
  examples/digits/images/*.pgm |
  tail -n 1 | grep 'of 60 right'
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes, installed, and right"

arch=$(dpkg --print-architecture 2> /dev/null || true)
cc=$(scripts/musl_gcc.sh "$arch" 2>&1) || { echo "SKIP: the wheel for musl: $cc"; exit 0; }
[ -n "$cc" ] || cc=musl-gcc
musl=${BUILD:-build}/musl-$arch machine=$(uname -m)
BUILD=$musl CC=$cc make --no-print-directory libs "$musl/bin/anynpu" "$musl/lib/anynpu-devices" > "$dir/log"
BUILD=$musl scripts/install.sh "$dir/musl" "$version" lib include > "$dir/log"
wheel=$(go run ./scripts/packages/wheel "$version" "$dir/musl" "$dir")
"$dir/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$dir/unpacked" \
  --only-binary :all: --platform "musllinux_1_2_$machine" "$wheel"
sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibrknnrt.symbols > "$dir/vendor.c"
"$cc" -shared -fPIC -o "$dir/librknnrt.so" "$dir/vendor.c" -Wl,-soname,librknnrt.so
"$cc" -Iinclude examples/rknn_digits.c -o "$dir/rknn_digits" -L"$dir" -lrknnrt -lm
"$dir/unpacked/anynpu/prefix/bin/anynpu" exec -- "$dir/rknn_digits" examples/digits/digits.onnx \
  examples/digits/images/*.pgm > "$dir/out" 2>&1 || { tail -n 5 "$dir/out"; exit 1; }
grep -F '59 of 60 right' "$dir/out"
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes, unpacked, and right"
