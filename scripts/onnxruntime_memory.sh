#!/usr/bin/env bash
# usage: onnxruntime_memory.sh SITE
# Small hosts under valgrind beside the CPU provider of ONNX Runtime and beside OpenVINO, whose packages are unpacked in
# SITE: no bad access and no memory that is lost, but for reports from within these libraries (ctest/onnxruntime.supp).
set -euo pipefail
site=$(realpath "$1")
. "$(dirname "$0")/settings.sh"
scripts/need.sh valgrind gcc > /dev/null || { echo "SKIP: no valgrind"; exit 0; }
gcc -E -x c - <<< '#include <valgrind/memcheck.h>' > /dev/null 2>&1 ||
  { echo "SKIP: no headers of valgrind"; exit 0; }
programs=(ohnn_digits rknn_digits hbdnn_digits nnapi_digits)
make --no-print-directory libs "${programs[@]/#/${BUILD:-build}/examples/}" > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
fail() { echo "onnxruntime memory: $*"; exit 1; }
gcc -D_GNU_SOURCE -O1 -shared -fPIC ctest/gomemory.c -o "$dir/gomemory.so" -ldl
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache GO_MEMORY=$dir/gomemory.so ANYNPU_THREADS=2
export MEMCHECK_SUPPRESSIONS=$PWD/ctest/onnxruntime.supp ANYNPU_LOG=info ANYNPU_LOG_FILE=$dir/log
manifest() { # COLUMN LIBRARY DEVICE
  mkdir "$dir/$1"
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"$1\", \"api\": \"onnxruntime\", \"library\": \"$2\"," \
    "\"devices\": [$3]}" > "$dir/$1/manifest.json"
}
manifest runtime "$site/onnxruntime/onnxruntime/capi/libonnxruntime.so.1.32.0" \
  '{"provider": "CPUExecutionProvider", "kind": "cpu"}'
manifest openvino "$site/onnxruntime_openvino/onnxruntime/capi/libonnxruntime.so.1.24.1" \
  '{"provider": "OpenVINO", "kind": "cpu", "options": {"device_type": "CPU"}}'
columns=(runtime openvino)
images=(examples/digits/images/000*.pgm examples/digits/images/001*.pgm)
hosts=0
for column in "${columns[@]}"; do
  export ANYNPU_DRIVERS=$dir/$column
  for program in "${programs[@]}"; do
    model=examples/digits/digits.onnx
    case $program in ohnn_digits | nnapi_digits) model=examples/digits/digits.weights ;; esac
    # The first run tries the provider in a child, which is none of valgrind's business.
    "$build/examples/$program" "$model" "${images[@]}" > "$dir/want" 2> "$dir/errors" ||
      { cat "$dir/errors"; fail "$program beside $column"; }
    : > "$dir/log"
    timeout 1800 ctest/memcheck.sh "$build/examples/$program" "$model" "${images[@]}" > "$dir/out" 2> "$dir/errors" ||
      { cat "$dir/out" "$dir/errors"; fail "$program beside $column is not clean"; }
    sed -n 's/^\(.*: [0-9]\), probability.*/\1/p' "$dir/want" > "$dir/digits"
    [ -s "$dir/digits" ] && sed -n 's/^\(.*: [0-9]\), probability.*/\1/p' "$dir/out" | diff "$dir/digits" - ||
      fail "$program beside $column: other digits under valgrind"
    grep -q 'placement=.*onnxruntime: ' "$dir/log" || { cat "$dir/log"; fail "$program: $column computed nothing"; }
    hosts=$((hosts + 1))
    echo "ok  $program beside $column: nothing lost, no bad access"
  done
done
echo "$hosts of $((${#programs[@]} * ${#columns[@]})) hosts are clean under valgrind"
