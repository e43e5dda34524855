#!/usr/bin/env bash
# usage: pass.sh [long]
# Programs whose calls go to a vendor's driver, which a manifest names: alone, and beside ONNX models of the library's;
# drivers that cannot be used, and what anynpu drivers says of them. The drivers are C files of this folder. long is
# with every mode under AddressSanitizer and valgrind.
set -euo pipefail
long=${1:-}
. "$(dirname "$0")/../../scripts/settings.sh"
here=$PWD/ctest/drivers
make --no-print-directory libs "${BUILD:-build}/bin/anynpu" "${BUILD:-build}/examples/rknn_digits" \
  "${BUILD:-build}/examples/nnapi_digits" > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "drivers: $*"; exit 1; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "want \"$2\""; }; }
GOCACHE=$(go env GOCACHE) # Go's own is in XDG_CACHE_HOME
export GOCACHE XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache ANYNPU_LOG_FILE=$dir/log
manifests=$XDG_CONFIG_HOME/anynpu/drivers.d
mkdir -p "$manifests" "$dir"/{npu,lacks,alone,whole,bad}
chmod 755 "$dir"
flags=(-Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest -I"$here")
npu=(gcc "${flags[@]}" -shared -fPIC -DCALLS='"zcalls_rknn.h"' -DCOMPUTE='"npu.h"' "$here/fake.c"
  -Wl,-soname,librknnrt.so -lpthread -lm)
manifest() { # NAME API LIBRARY
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"$1\", \"api\": \"$2\", \"library\": \"$3\"}" \
    > "$manifests/$1.json"
}
host() { # SOURCE PROGRAM FLAGS...
  gcc "${flags[@]}" "$here/$1.c" -o "$dir/$2" "${@:3}" -L"$lib" -Wl,-rpath,"$lib" -lrknnrt -lneural_network_runtime \
    -lanynpu -lpthread -Wl,--no-as-needed -lm
}

"${npu[@]}" -o "$dir/npu/librknnrt.so"
host passing passing
host passing passing_asan -fsanitize=address
host hammer hammer
host hammer hammer_asan -fsanitize=address
gcc "${flags[@]}" -shared -fPIC "$here/before.c" -o "$dir/before.so" -ldl
host whole wholly
{ printf 'RKNN\0\0\0\0FAKENPU\0'; cat examples/digits/digits.weights; } > "$dir/digits.rknn"
models=("$dir/digits.rknn" examples/digits/digits.onnx examples/digits/images/*.pgm)
driver=$dir/npu/librknnrt.so
run() { # MODE [PROGRAM]: with the fake driver
  : > "$dir/log"
  timeout 300 "$dir/${2-passing}" "$1" "$driver" "${models[@]}" || { cat "$dir/log"; fail "$*"; }
}

hammer() { # OPTIONS...: the program in PROGRAM, by the tool in TOOL, with the libraries in BEFORE preloaded
  : > "$dir/log"
  LD_PRELOAD=${BEFORE-} timeout 600 ${TOOL-} "$dir/${PROGRAM-hammer}" "$driver" "$dir/digits.rknn" examples/digits/digits.onnx \
    "$@" > "$dir/out" 2>&1 || { cat "$dir/out" "$dir/log"; fail "hammer $*"; }
  grep '^passing: misrouted 0 of' "$dir/out" | sed "s/^passing/&${BY:+ ($BY)}/" || { cat "$dir/out"; fail "hammer $*"; }
}
hammer_asan() { BY=ASan PROGRAM=hammer_asan hammer "$@"; }
hammer_valgrind() { # with the library in BEFORE preloaded
  GO_MEMORY=$dir/libgomemory.so${BEFORE:+:$BEFORE} BEFORE='' TOOL='ctest/memcheck.sh --own-leaks' BY=valgrind \
    hammer "$@"
}
valgrind=''
if [ -n "$long" ] && command -v valgrind > /dev/null &&
  echo '#include <valgrind/memcheck.h>' | gcc -E - > /dev/null 2>&1; then
  gcc -shared -fPIC -O1 -g -D_GNU_SOURCE ctest/gomemory.c -o "$dir/libgomemory.so" -ldl
  valgrind=1
fi
# The ways in which programs and drivers come to the library, one by one and together.
hammers=('' opened callbacks forks 'opened callbacks forks')

# A program that is already built, on the driver, and without one.
program=("$build/examples/rknn_digits" "$dir/digits.rknn" examples/digits/images/*.pgm)
! "${program[@]}" > "$dir/out" 2>&1 || fail "an .rknn is computed without a driver"
run none
manifest npu rknn "$driver"
"${program[@]}" > "$dir/out" || { cat "$dir/out" "$dir/log"; fail "rknn_digits"; }
has "$dir/out" '59 of 60 right'
"$build/examples/rknn_digits" examples/digits/digits.onnx examples/digits/images/*.pgm > "$dir/out"
has "$dir/out" '59 of 60 right'
for setting in auto driver; do ANYNPU_RKNN=$setting "${program[@]}" > "$dir/out" || fail "ANYNPU_RKNN=$setting"; done
ANYNPU_RKNN=cpu run none
"$build/bin/anynpu" drivers > "$dir/out"
has "$dir/out" 'driver      rknn npu: used'

# Both kinds of models in one program; many threads; a program that knows the driver itself; forks; traced, with probed
# pointers, with AddressSanitizer.
run both
run opened
run forks
hammer
hammer opened callbacks forks
for options in opened callbacks forks; do ROUNDS=12500 hammer $options; done
for options in before 'before opened'; do BEFORE=$dir/before.so ROUNDS=12500 hammer $options; done
ANYNPU_LOG=trace run both
ANYNPU_CHECK=pointers run both
ANYNPU_PROBE=off run both
run both passing_asan
if [ -n "$long" ]; then
  for variable in ANYNPU_LOG=trace ANYNPU_CHECK=pointers ANYNPU_PROBE=off; do (export "$variable"; run both passing_asan); done
  for options in "${hammers[@]}"; do
    hammer $options
    hammer_asan $options
  done
  for options in before 'before opened forks'; do BEFORE=$dir/before.so hammer $options; done
  # Not without opened: what the driver makes for itself comes to AnyNPU here too, as hammer.c says.
  BEFORE=$(gcc -print-file-name=libasan.so):$dir/before.so hammer_asan before opened forks
  run opened passing_asan
  run forks passing_asan
fi

# Valgrind.
if [ -n "$valgrind" ]; then
  rm -rf "$XDG_CACHE_HOME"
  for mode in both forks; do
    GO_MEMORY=$dir/libgomemory.so timeout 300 ctest/memcheck.sh "$dir/passing" $mode "$driver" "${models[@]:0:6}" \
      > "$dir/out" 2>&1 || { cat "$dir/out"; fail "valgrind: $mode"; }
  done
  for options in "${hammers[@]}"; do hammer_valgrind $options; done
  for options in before 'before opened forks'; do BEFORE=$dir/before.so hammer_valgrind $options; done
fi

# The program that tries a new driver is no child that the host sees.
for mode in child ignored; do rm -rf "$XDG_CACHE_HOME"; run $mode; done
[ "$(find "$XDG_CACHE_HOME" -name '*.json' | wc -l)" = 1 ] || fail "no verdict is kept"

# A driver that needs a library by a name that is AnyNPU's here.
gcc -shared -fPIC -x c /dev/null -o "$dir/npu/shim.so" -L"$dir/npu" -Wl,--no-as-needed -lrknnrt -Wl,-rpath,'$ORIGIN'
cp "$dir/npu/shim.so" "$dir/alone/"
manifest npu rknn "$dir/npu/shim.so"
run namespace
for options in '' 'callbacks forks'; do ROUNDS=12500 hammer namespace $options; done
if [ -n "$long" ]; then hammer_asan namespace callbacks forks; fi
if [ -n "$valgrind" ]; then hammer_valgrind namespace callbacks forks; fi
manifest npu rknn "$dir/alone/shim.so"
LD_LIBRARY_PATH=$lib run none
has "$dir/log" "shim.so needs librknnrt.so, which here is AnyNPU's own"
has "$dir/log" "the vendor's is not at $dir/alone/librknnrt.so"
# One whose helper needs the driver itself by that name.
gcc -shared -fPIC -x c /dev/null -o "$dir/npu/libhelp.so" -Wl,-soname,libhelp.so -L"$dir/npu" -Wl,--no-as-needed \
  -lrknnrt -Wl,-rpath,'$ORIGIN'
mkdir "$dir/ring"
"${npu[@]}" -o "$dir/ring/librknnrt.so" -L"$dir/npu" -Wl,--no-as-needed,-rpath-link,"$dir/npu" -lhelp \
  -Wl,-rpath,'$ORIGIN'
cp "$dir/npu/libhelp.so" "$dir/ring/"
manifest npu rknn "$dir/ring/librknnrt.so"
run namespace

# Functions that a driver lacks.
echo '{ local: rknn_set_core_mask; rknn_matmul_*; rknn_B_*; };' > "$dir/lacks.map"
"${npu[@]}" -Wl,--version-script="$dir/lacks.map" -o "$dir/lacks/librknnrt.so"
manifest npu rknn "$dir/lacks/librknnrt.so"
driver=$dir/lacks/librknnrt.so run lacks
echo '{ local: OH_NNTensorDesc_Create; OH_NNDevice_GetType; };' > "$dir/whole.map"
gcc "${flags[@]}" -shared -fPIC -DCALLS='"zcalls_ohnn.h"' "$here/fake.c" -o "$dir/whole/libnpu.so" \
  -Wl,--version-script="$dir/whole.map" -lpthread
manifest whole ohnn "$dir/whole/libnpu.so"
echo 'OH_NNModel_Construct=2211000000000000 OH_NNModel_Destroy.model=4433000000000000' > "$dir/script"
: > "$dir/log"
FAKE_SCRIPT=$dir/script timeout 60 "$dir/wholly" "$dir/whole/libnpu.so" "${models[1]}" "${models[0]}" ||
  { cat "$dir/log"; fail "whole"; }

# All calls of NNAPI.
mkdir "$dir/nnapi"
echo '{ local: ANeuralNetworksBurst_create; };' > "$dir/nnapi.map"
gcc "${flags[@]}" -shared -fPIC -DCALLS='"zcalls_nnapi.h"' -DCOMPUTE='"nnapi.h"' "$here/fake.c" \
  -Wl,-soname,libneuralnetworks.so \
  -Wl,--version-script="$dir/nnapi.map" -o "$dir/nnapi/libneuralnetworks.so" -lpthread -lm
gcc "${flags[@]}" "$here/whole_nnapi.c" -o "$dir/whole_nnapi" -L"$lib" -Wl,-rpath,"$lib" -lneuralnetworks -lanynpu \
  -lpthread \
  -Wl,--no-as-needed -lm
manifest nn nnapi "$dir/nnapi/libneuralnetworks.so"
: > "$dir/log"
timeout 60 "$dir/whole_nnapi" "$dir/nnapi/libneuralnetworks.so" || { cat "$dir/log"; fail "whole_nnapi"; }
nnapi=("$build/examples/nnapi_digits" examples/digits/digits.weights examples/digits/images/*.pgm)
"${nnapi[@]}" > "$dir/out" || { cat "$dir/out" "$dir/log"; fail "nnapi_digits"; }
has "$dir/out" '59 of 60 right'
! ANYNPU_NNAPI=cpu "$dir/whole_nnapi" "$dir/nnapi/libneuralnetworks.so" > "$dir/out" 2>&1 ||
  fail "ANYNPU_NNAPI=cpu asks the driver"

# Every rule of the API holds beside a driver, but those about models that are the driver's.
rm "$manifests"/* # a driver of another API would compute the models
echo '{ local: rknn_matmul_*; rknn_B_*; };' > "$dir/models.map"
mkdir "$dir/models"
"${npu[@]}" -Wl,--version-script="$dir/models.map" -o "$dir/models/librknnrt.so"
manifest npu rknn "$dir/models/librknnrt.so"
ANYNPU_LOG_FILE= go run ./conformance/cmd/conformance rknn rules > "$dir/rules" 2>&1 || true
grep -q '^rknn rules: cases [1-9]' "$dir/rules" || { tail "$dir/rules"; fail "the rules were not run"; }
sed -n 's/^\(fail\|skip\)  \([^ ]*\) .*/\2/p' "$dir/rules" | LC_ALL=C sort |
  diff <(grep -v '^#' "$here/rules.txt" | LC_ALL=C sort) - || fail "other cases fail beside a driver than rules.txt has"

# Drivers that cannot be used, each before a good one: one line for each, and the good one is used.
rm "$manifests"/*
bad() { # NAME CODE FLAGS: a library with that code
  local name=$1 code=$2
  shift 2
  echo "$code" | gcc -shared -fPIC -x c - -o "$dir/bad/$name.so" "$@"
  manifest "$name" rknn "$dir/bad/$name.so"
}
start='__attribute__((constructor)) static void start(void)'
bad 1crash "#include <stdlib.h>
$start { abort(); }"
bad 2segv "$start { *(volatile int *)0 = 1; }"
bad 3hang "#include <unistd.h>
$start { for (;;) pause(); }"
bad 4exit "#include <stdlib.h>
$start { exit(0); }"
bad 5lacks 'int rknn_init, rknn_destroy, rknn_query;'
bad 6undefined 'int nowhere(void); int rknn_init(void); int rknn_init(void) { return nowhere(); }'
bad 7write "#include <unistd.h>
$start { if (write(3, \"ok\\n\", 3) < 0) return; _exit(1); }"
bad 8children "#include <unistd.h>
$start { if (fork() == 0) for (;;) pause(); _exit(0); }"
manifest 9stub rknn "$lib/librknnrt.so"
manifest a_core rknn "$lib/libanynpu.so.0"
echo 'rknn' > "$manifests/b_text.json"
manifest c_relative rknn librknnrt.so
manifest z_good rknn "$dir/npu/librknnrt.so"
driver=$dir/npu/librknnrt.so run both
while read -r name want; do
  [ "$(grep -c "/$name.json " "$dir/log")" = 1 ] || { cat "$dir/log"; fail "not one line of $name"; }
  grep "/$name.json " "$dir/log" > "$dir/line"
  has "$dir/line" "$want"
done << 'LINES'
1crash opening it ends in signal 6 (aborted)
2segv opening it ends in signal 11 (segmentation fault)
3hang opening it takes longer than 10s
4exit opening it ends the program with exit code 0
5lacks it lacks the symbol rknn_run
6undefined undefined symbol: nowhere
7write opening it ends the program with exit code 1
8children opening it ends the program with exit code 0
9stub AnyNPU's own library
a_core AnyNPU's own library
b_text not a JSON object
c_relative want an absolute path
LINES
[ "$(wc -l < "$dir/log")" -le 13 ] || { cat "$dir/log"; fail "more than a line each"; }
"$build/bin/anynpu" drivers > "$dir/out"
for want in 'rknn 1crash: refused' 'signal 6 (aborted); anynpu drivers --probe tries it again' 'rknn z_good: used' \
  '- -: refused' 'not a JSON object'; do has "$dir/out" "$want"; done
[ "$(grep -c refused "$dir/out")" = 12 ] || { cat "$dir/out"; fail "not 12 refused"; }
rm "$manifests"/*
"$build/bin/anynpu" drivers > "$dir/out"
has "$dir/out" 'no driver'
ANYNPU_RKNN=driver run none
has "$dir/log" 'no driver can be used'
echo "drivers: passed through, mixed, refused"
