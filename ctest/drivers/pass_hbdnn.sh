#!/usr/bin/env bash
# usage: pass_hbdnn.sh hbdnn|hbucp [long]
# Programs for hbDNN, or for its newer generation, whose calls go to a vendor's library, which a manifest names: alone,
# and beside ONNX models of the library's. The driver is bpu.h. long is with every mode under AddressSanitizer and
# valgrind.
set -euo pipefail
api=$1 long=${2:-}
. "$(dirname "$0")/../../scripts/settings.sh"
here=$PWD/ctest/drivers
make --no-print-directory libs "${BUILD:-build}/bin/anynpu" "${BUILD:-build}/examples/${api}_digits" > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$api drivers: $*"; exit 1; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "want \"$2\""; }; }
. "$here/models_hbdnn.sh"
GOCACHE=$(go env GOCACHE) # Go's own is in XDG_CACHE_HOME
export GOCACHE XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache ANYNPU_LOG_FILE=$dir/log
manifests=$XDG_CONFIG_HOME/anynpu/drivers.d
mkdir -p "$manifests" "$dir"/{bpu,lacks,rules,old,middle,models}
chmod 755 "$dir"
case $api in
  hbdnn) make_driver=bpu name=libdnn.so linked=(-ldnn) shape='4 1 1 8 16' byte=9 real=13 setting=ANYNPU_HBDNN ;;
  hbucp)
    make_driver=bpu_ucp name=libhbucp.so linked=(-DUCP -lhbucp -ldnn) shape='4 1 8 16 1' byte=3 real=7
    setting=ANYNPU_HBUCP
    ;;
esac
host() { # PROGRAM FLAGS...
  gcc -Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest -I"$here" "$here/passing_hbdnn.c" -o "$dir/$1" \
    "${@:2}" -L"$lib" -Wl,-rpath,"$lib" "${linked[@]}" -lanynpu -lpthread -lm
}
$make_driver "$dir/bpu/$name"
bpu_digits > "$dir/models/digits.bin"
bpu_sum copy $shape $byte 0 > "$dir/models/copy.bin"
bpu_sum sum 2 1 10 0 0 $real 0 > "$dir/models/sum.bin"
host passing
host passing_asan -fsanitize=address
driver=$dir/bpu/$name
images=(examples/digits/images/*.pgm)
use() { # DRIVER
  driver=$1
  printf '{"schema": "anynpu.driver/1", "name": "bpu", "api": "%s", "library": "%s"}\n' "$api" "$1" > "$manifests/bpu.json"
}
run() { # MODE [PROGRAM]: with the fake driver
  : > "$dir/log"
  timeout 300 "$dir/${2-passing}" "$1" "$driver" "$dir/models" examples/digits/digits.onnx "${images[@]}" ||
    { cat "$dir/log"; fail "$*"; }
}

# A program that is already built, on the driver, and without one.
readelf -V "$driver" | grep 'Name: CONFIG' > /dev/null || fail "the driver's names have no version CONFIG"
program=("$build/examples/${api}_digits" "$dir/models/digits.bin" "${images[@]}")
! "${program[@]}" > "$dir/out" 2>&1 || fail "a compiled model is computed without a driver"
run none
use "$driver"
for value in auto driver; do
  env "$setting=$value" "${program[@]}" > "$dir/out" || { cat "$dir/out" "$dir/log"; fail "${api}_digits, $value"; }
  has "$dir/out" '59 of 60 right'
done
echo "${api}_digits on a driver: $(tail -1 "$dir/out")"
"$build/examples/${api}_digits" examples/digits/digits.onnx "${images[@]}" > "$dir/out"
has "$dir/out" '59 of 60 right'
(export "$setting=cpu"; run none)
"$build/bin/anynpu" drivers > "$dir/out"
has "$dir/out" "driver      $api bpu: used"

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
if [ "$api" = hbdnn ]; then
  bpu "$dir/old/libdnn.so" -DBPU_VERSION='"1.9.7"'
  bpu "$dir/middle/libdnn.so" -DBPU_VERSION='"1.14.1"'
  use "$dir/old/libdnn.so"
  run older136
  use "$dir/middle/libdnn.so"
  run older144
  lacking='hbDNNGetEstimateLatency; hbSysWriteMem; hbDNNResize; hbDNNGetErrorDesc; hbDNNConvert*'
else
  lacking='hbDNNGetCompileBpuCoreNum; hbUCPMalloc; hbUCPGet*; hbDNNGetErrorDesc'
fi
echo "CONFIG { global: *; local: $lacking; };" > "$dir/lacks.map"
$make_driver "$dir/lacks/$name" -Wl,--version-script="$dir/lacks.map"
use "$dir/lacks/$name"
run lacks

# Every rule of the API holds beside a driver that has models, tasks and memory, but those about what is the driver's.
own='hbDNNConvert*; hbDNNAddPadding*; hbDNNRemovePadding*; hbDNNUnquantizeByScale; hbDNNGetLayoutName;
  hbDNNGetErrorDesc; hbDNNResize; hbDNNGetTaskEstimateStartTime; _Z2*' modes=(--mode 1.23)
[ "$api" = hbdnn ] || { own='hbUCPGet*; hbDNNGetErrorDesc' modes=(); }
echo "CONFIG { global: *; local: $own; };" > "$dir/rules.map"
$make_driver "$dir/rules/$name" -Wl,--version-script="$dir/rules.map"
use "$dir/rules/$name"
[ -z "$long" ] || modes=()
ANYNPU_LOG_FILE= go run ./conformance/cmd/conformance "$api" rules "${modes[@]}" > "$dir/rules.txt" 2>&1 || true
grep "^$api rules: cases [1-9]" "$dir/rules.txt" > "$dir/out" ||
  { tail "$dir/rules.txt"; fail "the rules were not run"; }
sed -n 's/^\(fail\|skip\)  \([^ ]*\) .*/\2/p' "$dir/rules.txt" | LC_ALL=C sort -u |
  diff <(grep -v '^#' "$here/rules_$api.txt" | LC_ALL=C sort) - ||
  fail "other cases fail beside a driver than rules_$api.txt has"
echo "$api drivers: $(cat "$dir/out"), as rules_$api.txt names them"
