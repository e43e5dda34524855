#!/usr/bin/env bash
# usage: pass_hbdnn.sh [long]
# Programs for hbDNN whose calls go to a vendor's libdnn.so, which a manifest names: alone, and beside ONNX models of
# the library's. The driver is bpu.h. long is with every mode under AddressSanitizer and valgrind.
set -euo pipefail
long=${1:-}
. "$(dirname "$0")/../../scripts/settings.sh"
here=$PWD/ctest/drivers
make --no-print-directory libs "${BUILD:-build}/bin/anynpu" "${BUILD:-build}/examples/hbdnn_digits" > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "hbdnn drivers: $*"; exit 1; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "want \"$2\""; }; }
. "$here/models_hbdnn.sh"
GOCACHE=$(go env GOCACHE) # Go's own is in XDG_CACHE_HOME
export GOCACHE XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache ANYNPU_LOG_FILE=$dir/log
manifests=$XDG_CONFIG_HOME/anynpu/drivers.d
mkdir -p "$manifests" "$dir"/{bpu,lacks,rules,old,middle,models}
chmod 755 "$dir"
host() { # PROGRAM FLAGS...
  gcc -Wall -Wextra -Werror -g -O1 -D_GNU_SOURCE -Iinclude -Ictest -I"$here" "$here/passing_hbdnn.c" -o "$dir/$1" \
    "${@:2}" -L"$lib" -Wl,-rpath,"$lib" -ldnn -lanynpu -lpthread -lm
}
bpu "$dir/bpu/libdnn.so"
bpu_digits > "$dir/models/digits.bin"
bpu_sum copy 4 1 1 8 16 9 0 > "$dir/models/copy.bin"
bpu_sum sum 2 1 10 0 0 13 0 > "$dir/models/sum.bin"
host passing
host passing_asan -fsanitize=address
driver=$dir/bpu/libdnn.so
images=(examples/digits/images/*.pgm)
use() { # DRIVER
  driver=$1
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"bpu\", \"api\": \"hbdnn\", \"library\": \"$1\"}" > "$manifests/bpu.json"
}
run() { # MODE [PROGRAM]: with the fake driver
  : > "$dir/log"
  timeout 300 "$dir/${2-passing}" "$1" "$driver" "$dir/models" examples/digits/digits.onnx "${images[@]}" ||
    { cat "$dir/log"; fail "$*"; }
}

# A program that is already built, on the driver, and without one.
readelf -V "$driver" | grep 'Name: CONFIG' > /dev/null || fail "the driver's names have no version CONFIG"
program=("$build/examples/hbdnn_digits" "$dir/models/digits.bin" "${images[@]}")
! "${program[@]}" > "$dir/out" 2>&1 || fail "a compiled model is computed without a driver"
run none
use "$driver"
for setting in auto driver; do
  ANYNPU_HBDNN=$setting "${program[@]}" > "$dir/out" || { cat "$dir/out" "$dir/log"; fail "hbdnn_digits, $setting"; }
  has "$dir/out" '59 of 60 right'
done
echo "hbdnn_digits on a driver: $(tail -1 "$dir/out")"
"$build/examples/hbdnn_digits" examples/digits/digits.onnx "${images[@]}" > "$dir/out"
has "$dir/out" '59 of 60 right'
ANYNPU_HBDNN=cpu run none
"$build/bin/anynpu" drivers > "$dir/out"
has "$dir/out" 'driver      hbdnn bpu: used'

# Both kinds of models in one program; many threads; a program that knows the driver itself; forks; traced, with probed
# pointers, with AddressSanitizer.
for mode in both memory callbacks hammer opened forks; do run $mode; done
ANYNPU_LOG=trace run both
ANYNPU_CHECK=pointers run both
for mode in both memory callbacks; do run $mode passing_asan; done
if [ -n "$long" ]; then
  for mode in opened forks; do run $mode passing_asan; done
  ROUNDS=2000 run hammer passing_asan
  ROUNDS=1000000 run hammer
  for variable in ANYNPU_LOG=trace ANYNPU_CHECK=pointers ANYNPU_PROBE=off; do (export "$variable"; run both passing_asan); done
  if command -v valgrind > /dev/null && echo '#include <valgrind/memcheck.h>' | gcc -E - > /dev/null 2>&1; then
    gcc -shared -fPIC -O1 -g -D_GNU_SOURCE ctest/gomemory.c -o "$dir/libgomemory.so" -ldl
    rm -rf "$XDG_CACHE_HOME"
    for mode in both memory callbacks hammer; do
      GO_MEMORY=$dir/libgomemory.so ROUNDS=500 timeout 300 ctest/memcheck.sh "$dir/passing" $mode "$driver" "$dir/models" \
        examples/digits/digits.onnx "${images[@]:0:6}" > "$dir/out" 2>&1 || { cat "$dir/out"; fail "valgrind: $mode"; }
    done
  fi
fi

# Drivers of older generations, and one that lacks functions.
bpu "$dir/old/libdnn.so" -DBPU_VERSION='"1.9.7"'
bpu "$dir/middle/libdnn.so" -DBPU_VERSION='"1.14.1"'
echo 'CONFIG { global: *; local: hbDNNGetEstimateLatency; hbSysWriteMem; hbDNNResize; hbDNNGetErrorDesc; hbDNNConvert*; };' \
  > "$dir/lacks.map"
bpu "$dir/lacks/libdnn.so" -Wl,--version-script="$dir/lacks.map"
use "$dir/old/libdnn.so"
run older136
use "$dir/middle/libdnn.so"
run older144
use "$dir/lacks/libdnn.so"
run lacks

# Every rule of the API holds beside a driver that has models, tasks and memory, but those about what is the driver's.
echo 'CONFIG { global: *; local: hbDNNConvert*; hbDNNAddPadding*; hbDNNRemovePadding*; hbDNNUnquantizeByScale;
  hbDNNGetLayoutName; hbDNNGetErrorDesc; hbDNNResize; hbDNNGetTaskEstimateStartTime; _Z2*; };' > "$dir/rules.map"
bpu "$dir/rules/libdnn.so" -Wl,--version-script="$dir/rules.map"
use "$dir/rules/libdnn.so"
modes=(--mode 1.23)
[ -z "$long" ] || modes=()
ANYNPU_LOG_FILE= go run ./conformance/cmd/conformance hbdnn rules "${modes[@]}" > "$dir/rules.txt" 2>&1 || true
grep '^hbdnn rules: cases [1-9]' "$dir/rules.txt" > "$dir/out" ||
  { tail "$dir/rules.txt"; fail "the rules were not run"; }
sed -n 's/^\(fail\|skip\)  \([^ ]*\) .*/\2/p' "$dir/rules.txt" | LC_ALL=C sort -u |
  diff <(grep -v '^#' "$here/rules_hbdnn.txt" | LC_ALL=C sort) - ||
  fail "other cases fail beside a driver than rules_hbdnn.txt has"
echo "hbdnn drivers: $(cat "$dir/out"), as rules_hbdnn.txt names them"
