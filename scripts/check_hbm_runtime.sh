#!/usr/bin/env bash
# usage: check_hbm_runtime.sh
# The vendor's Python runtime for UCP, the wheel hbm-runtime of PyPI, which there is for arm64 and CPython 3.10 alone:
# each function that it imports is in the libraries for arm64, under its version. It is not run, because no package
# registry has that interpreter. Says SKIP and why where the wheel cannot be had.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-nm unzip; do
  command -v $tool > /dev/null ||
    { echo "SKIP: no $tool (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross unzip)"; exit 0; }
done
dir=$build/hbm-runtime
wheel() { compgen -G "$dir/hbm_runtime-*.whl"; }
mkdir -p "$dir"
if ! wheel > /dev/null; then
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.10 \
    --platform manylinux_2_34_aarch64 --dest "$dir" hbm-runtime==0.1.0.post1 > "$dir/log" 2>&1 ||
    { echo "SKIP: no hbm-runtime: $(tail -n 1 "$dir/log")"; exit 0; }
fi
GOARCH=arm64 CC=aarch64-linux-gnu-gcc BUILD=${BUILD:-build}/arm64 make --no-print-directory libs > "$dir/log" 2>&1 ||
  { tail "$dir/log"; exit 1; }
unzip -o -q "$(wheel)" -d "$dir/files"
module=$(find "$dir/files" -name '*.so')
libraries=("$build"/arm64/lib/{libhbucp,libdnn}.so)
exported() {
  aarch64-linux-gnu-nm -D --defined-only --with-symbol-versions "$1" | sed -n 's/@@/@/; s/.* \(hb[A-Z].*\)/\1/p'
}
for name in libhbucp.so libdnn.so; do
  aarch64-linux-gnu-readelf -d "$module" | grep -F "NEEDED" | grep -qF "[$name]" ||
    { echo "hbm-runtime: it does not need $name"; exit 1; }
done
aarch64-linux-gnu-nm -D --undefined-only --with-symbol-versions "$module" | sed -n 's/.* \(hb[A-Z].*\)/\1/p' |
  LC_ALL=C sort -u > "$dir/wanted"
for library in "${libraries[@]}"; do exported "$library"; done | LC_ALL=C sort -u > "$dir/there"
missing=$(LC_ALL=C comm -23 "$dir/wanted" "$dir/there")
[ -s "$dir/wanted" ] && [ -z "$missing" ] || { echo "hbm-runtime: missing: ${missing:-everything}"; exit 1; }
echo "hbm-runtime: $(wc -l < "$dir/wanted") of $(wc -l < "$dir/wanted") imported functions are there"
