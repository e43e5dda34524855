#!/usr/bin/env bash
# Programs of every API whose network a vendor's driver computes as a device: compiled models, for which a fake driver
# of this folder stands in for the vendor's.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
here=$PWD/ctest/drivers
make --no-print-directory libs "${BUILD:-build}/bin/anynpu" "${BUILD:-build}/lib/anynpu-devices" > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "devices: $*"; exit 1; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "want \"$2\""; }; }
. "$here/models_hbdnn.sh"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache ANYNPU_LOG_FILE=$dir/log
mkdir -p "$XDG_CONFIG_HOME/anynpu/drivers.d" "$dir"/{npu,bpu}
chmod 755 "$dir"
flags=(-Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest -Iexamples -I"$here")
gcc "${flags[@]}" -shared -fPIC -DCALLS='"zcalls_rknn.h"' -DCOMPUTE='"npu.h"' "$here/fake.c" -Wl,-soname,librknnrt.so \
  -o "$dir/npu/librknnrt.so" -lpthread -lm
host() { # PROGRAM FLAGS...
  gcc "${flags[@]}" "$here/device.c" -o "$dir/$1" "${@:2}" -L"$lib" -Wl,-rpath,"$lib" -lanynpu -lpthread \
    -Wl,--no-as-needed -lm
}
host device
host device_asan -fsanitize=address
# Opens a driver's file before anything else does, so that the driver's calls of its own exports come by the library.
cat << 'C' | gcc -shared -fPIC -x c - -o "$dir/opener.so"
#include <dlfcn.h>
#include <stdlib.h>
__attribute__((constructor)) static void start(void) { if (!dlopen(getenv("OPENED"), RTLD_NOW)) abort(); }
C
cat > "$XDG_CONFIG_HOME/anynpu/drivers.d/npu.json" << JSON
{"schema": "anynpu.driver/1", "name": "fake NPU", "api": "rknn", "library": "$dir/npu/librknnrt.so"}
JSON
{ printf 'RKNN\0\0\0\0FAKENPU\0'; cat examples/digits/digits.weights; } > "$dir/digits.rknn"
images=(examples/digits/images/*.pgm)
run() { # API WHO MODEL [PROGRAM]
  : > "$dir/log"
  timeout 120 "$dir/${4-device}" "$1" "$2" "$3" "${images[@]}" > "$dir/out" || { cat "$dir/out" "$dir/log"; fail "$*"; }
  has "$dir/out" "$1 on $2: 59 of 60 right"
}
inner() { # DRIVER API...: as run, where the driver's calls of its own exports come by the library
  local api driver=$1
  for api in "${@:2}"; do
    OPENED=$driver LD_PRELOAD=$dir/opener.so run $api "$who" "$model"
    run $api "$who" "$model" device_asan
  done
}

# The vendor's compiled model, through the other APIs and, where its own calls do not go to the driver, through its own.
for api in ohnn hbdnn; do run $api rknn "$dir/digits.rknn"; done
ANYNPU_RKNN=device run rknn rknn "$dir/digits.rknn"
ANYNPU_RKNN=device who=rknn model=$dir/digits.rknn inner "$dir/npu/librknnrt.so" rknn ohnn
for api in ohnn hbdnn rknn; do
  ! ANYNPU_RKNN=cpu "$dir/device" $api rknn "$dir/digits.rknn" "${images[@]}" > "$dir/out" 2>&1 ||
    fail "$api without a driver"
done
# ONNX models are the CPU's.
for api in ohnn hbdnn rknn; do ANYNPU_RKNN=device run $api cpu examples/digits/digits.onnx; done
# The tool.
npy() { # IMAGE: its bytes as an array of [1,1,8,8]
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"
  tail -c 64 "$1"
}
npy "${images[0]}" > "$dir/image.npy"
tool=$build/bin/anynpu
"$tool" run examples/digits/digits.onnx -i "${images[0]}" -o "$dir/cpu" > /dev/null
"$tool" run "$dir/digits.rknn" --device rknn -i "$dir/image.npy" --expect probabilities="$dir/cpu/probabilities.npy" \
  > "$dir/out" || { cat "$dir/out"; fail "anynpu run --device rknn"; }
has "$dir/out" 'rknn: 1'
! "$tool" run "$dir/digits.rknn" -i "$dir/image.npy" > "$dir/out" 2>&1 || fail "the CPU computes an .rknn"
# Its ONNX model with that compiled form beside it.
mkdir "$dir/net"
cp examples/digits/digits.onnx "$dir/net/"
cp "$dir/digits.rknn" "$dir/net/digits.fake.rknn"
sum=$(sha256sum < "$dir/digits.rknn")
metadata() { # COMPILED-LIST
  echo '{"anynpu.input.image.pixel": "gray", "anynpu.input.image.std": [16], "anynpu.dim.N": 1,' \
    "\"anynpu.compiled\": [$1]}" > "$dir/net/digits.onnx.anynpu.json"
}
form='{"container": "rknn", "target": "fake", "file": "digits.fake.rknn", "sha256": "'${sum%% *}'"}'
everywhere() { # WHO WARNINGS
  for api in rknn ohnn hbdnn; do
    ANYNPU_LOG=warn run $api "$1" "$dir/net/digits.onnx"
    [ "$(grep -c 'compiled form' "$dir/log")" = "$2" ] || { cat "$dir/log"; fail "not $2 warnings of a form: $api"; }
  done
  "$tool" run "$dir/net/digits.onnx" --device rknn -i "${images[0]}" --expect \
    probabilities="$dir/cpu/probabilities.npy" \
    > "$dir/out" 2> "$dir/errors" || { cat "$dir/out" "$dir/errors"; fail "anynpu run of a compiled form"; }
  [ "$(grep -c 'compiled form' "$dir/errors")" = "$2" ] || { cat "$dir/errors"; fail "not $2 warnings of a form"; }
}
metadata "$form"
everywhere rknn 0
has "$dir/out" 'compiled form digits.fake.rknn on rknn'
metadata '{"container": "other", "file": "digits.other", "sha256": "'"${sum%% *}"'"}, '"$form"
everywhere rknn 0
ANYNPU_FALLBACK=off run ohnn rknn "$dir/net/digits.onnx"
# Compiled from another network, with a sum that is not its own, or not there.
printf 'RKNN\0\0\0\0FAKENPU\0SUM1\2\0\0\0\1\0\0\0\12\0\0\0\0\0\0\0\0\0\0\0' > "$dir/net/sum.rknn"
other=$(sha256sum < "$dir/net/sum.rknn")
metadata '{"container": "rknn", "file": "sum.rknn", "sha256": "'"${other%% *}"'"}'
everywhere cpu 1
has "$dir/errors" 'is not used on device rknn: it differs from the model: 2 inputs there, 1 here'
metadata '{"container": "rknn", "file": "sum.rknn", "sha256": "'"${sum%% *}"'"}, '"$form"
everywhere rknn 1
has "$dir/errors" 'its SHA-256 is '
metadata '{"container": "rknn", "file": "none.rknn", "sha256": "'"${sum%% *}"'"}'
everywhere cpu 1
has "$dir/errors" 'no such file'

# Nothing but the first device: what it does not compute is named.
! ANYNPU_FALLBACK=off ANYNPU_RKNN=device "$dir/device" rknn cpu examples/digits/digits.onnx "${images[@]}" > \
  "$dir/out" 2>&1 ||
  fail "a fallback with ANYNPU_FALLBACK=off"
has "$dir/out" 'operator 0 (conv "conv1"): rknn: the driver computes'
ANYNPU_FALLBACK=off ANYNPU_DEVICE=cpu run rknn cpu examples/digits/digits.onnx

ANYNPU_DEVICE=cpu run ohnn rknn "$dir/digits.rknn"

# The same for a driver of hbDNN: its compiled model, which nothing but the driver knows, through every API.
rm "$XDG_CONFIG_HOME"/anynpu/drivers.d/*
bpu "$dir/bpu/libdnn.so"
export KEEPS=/bpu/libdnn.so
bpu_digits > "$dir/digits.bin"
cat > "$XDG_CONFIG_HOME/anynpu/drivers.d/bpu.json" << JSON
{"schema": "anynpu.driver/1", "name": "fake BPU", "api": "hbdnn", "library": "$dir/bpu/libdnn.so"}
JSON
for api in rknn ohnn; do run $api hbdnn "$dir/digits.bin"; done
ANYNPU_HBDNN=device run hbdnn hbdnn "$dir/digits.bin"
ANYNPU_HBDNN=device who=hbdnn model=$dir/digits.bin inner "$dir/bpu/libdnn.so" hbdnn rknn
for api in ohnn hbdnn rknn; do
  ! ANYNPU_HBDNN=cpu "$dir/device" $api hbdnn "$dir/digits.bin" "${images[@]}" > "$dir/out" 2>&1 ||
    fail "$api without a driver"
  ANYNPU_HBDNN=device run $api cpu examples/digits/digits.onnx
done
"$tool" run "$dir/digits.bin" --device hbdnn -i "$dir/image.npy" --expect probabilities="$dir/cpu/probabilities.npy" \
  > "$dir/out" || { cat "$dir/out"; fail "anynpu run --device hbdnn"; }
has "$dir/out" 'hbdnn: 1'
! "$tool" run "$dir/digits.bin" -i "$dir/image.npy" > "$dir/out" 2>&1 || fail "the CPU computes a .bin"
# A pack with an ONNX model is the library's, which has the driver compute the other one.
printf '{"anynpu.models": ["%s"]}' "digits.bin" > "$dir/pack.json"
run hbdnn hbdnn "$dir/pack.json"
# An ONNX model with a compiled form.
cp "$dir/digits.bin" "$dir/net/digits.fake.bin"
sum=$(sha256sum < "$dir/digits.bin")
metadata '{"container": "hbdnn", "file": "digits.fake.bin", "sha256": "'"${sum%% *}"'"}'
for api in rknn ohnn; do run $api hbdnn "$dir/net/digits.onnx"; done
# A driver of the newer generation, which is a device of programs of the older one too: that it is open says nothing of
# the program, and neither do its own calls, which come by the library with a sanitizer.
rm "$XDG_CONFIG_HOME"/anynpu/drivers.d/*
mkdir "$dir/ucp"
bpu_ucp "$dir/ucp/libhbucp.so"
export KEEPS=/ucp/libhbucp.so
cat > "$XDG_CONFIG_HOME/anynpu/drivers.d/ucp.json" << JSON
{"schema": "anynpu.driver/1", "name": "fake UCP", "api": "hbucp", "library": "$dir/ucp/libhbucp.so"}
JSON
for program in device device_asan; do FIRST=$dir/digits.bin run hbdnn cpu examples/digits/digits.onnx $program; done
FIRST=$dir/digits.bin run hbdnn hbucp "$dir/digits.bin"
# A driver of NNAPI takes graphs: the tool has it compute an ONNX file. Programs of every API beside it: matrix.sh.
rm "$XDG_CONFIG_HOME"/anynpu/drivers.d/*
unset KEEPS
mkdir "$dir/nn"
gcc "${flags[@]}" -shared -fPIC -DCALLS='"zcalls_nnapi.h"' -DCOMPUTE='"nnapi.h"' "$here/fake.c" \
  -Wl,-soname,libneuralnetworks.so -o "$dir/nn/libneuralnetworks.so" -lpthread -lm
export ANYNPU_DRIVER_NNAPI=$dir/nn/libneuralnetworks.so
"$tool" drivers > "$dir/out"
has "$dir/out" "driver      nnapi "
make --no-print-directory "${BUILD:-build}/examples/nnapi_digits" > /dev/null
OPENED=$ANYNPU_DRIVER_NNAPI LD_PRELOAD=$dir/opener.so ANYNPU_NNAPI=device ANYNPU_FALLBACK=off \
  "$build/examples/nnapi_digits" examples/digits/digits.weights "${images[@]}" > "$dir/out" ||
  { cat "$dir/out" "$dir/log"; fail "nnapi_digits with a driver that it has opened"; }
has "$dir/out" '59 of 60 right'
gcc "${flags[@]}" "$here/device_nnapi.c" -o "$dir/device_nnapi" -L"$lib" -Wl,-rpath,"$lib" -lneuralnetworks -lanynpu \
  -lpthread -Wl,--no-as-needed -lm
mkdir "$dir/nn/cache"
: > "$dir/log"
ANYNPU_NNAPI=device timeout 120 "$dir/device_nnapi" "$ANYNPU_DRIVER_NNAPI" "$dir/nn/cache" ||
  { cat "$dir/log"; fail "device_nnapi"; }
gcc "${flags[@]}" "$here/bursts_nnapi.c" -o "$dir/bursts_nnapi" -L"$lib" -Wl,-rpath,"$lib" -lneuralnetworks -lanynpu \
  -lpthread -Wl,--no-as-needed -lm
ANYNPU_NNAPI=device timeout 120 "$dir/bursts_nnapi" "$ANYNPU_DRIVER_NNAPI" > "$dir/out" ||
  { cat "$dir/out" "$dir/log"; fail "bursts of a driver"; }
metadata ""
"$tool" run "$dir/net/digits.onnx" --device nnapi -i "${images[0]}" \
  --expect probabilities="$dir/cpu/probabilities.npy" > "$dir/out" ||
    { cat "$dir/out"; fail "anynpu run --device nnapi"; }
has "$dir/out" 'nnapi: 9'
"$tool" run "$dir/net/digits.onnx" --device nnapi2 -i "${images[0]}" > "$dir/out" || fail "--device nnapi2"
has "$dir/out" 'nnapi2: 9'
! "$tool" run "$dir/net/digits.onnx" --device nnapi3 -i "${images[0]}" > "$dir/out" 2>&1 || fail "--device nnapi3"
has "$dir/out" 'no device nnapi3: its driver has 2'
! ANYNPU_NNAPI=cpu "$tool" run "$dir/net/digits.onnx" --device nnapi -i "${images[0]}" > "$dir/out" 2>&1 ||
  fail "anynpu run --device nnapi with ANYNPU_NNAPI=cpu"
# One that exports no function, but gives a table of them, is a device whatever the settings: programs of NNAPI find it
# in their list, and one line says why it does not get their calls.
mkdir "$dir/table"
echo '{ global: ANeuralNetworks_getSLDriverImpl; fake_*; local: *; };' > "$dir/table.map"
gcc "${flags[@]}" -shared -fPIC -DCALLS='"zcalls_nnapi.h"' -DCOMPUTE='"nnapi_table.h"' "$here/fake.c" \
  -Wl,--version-script="$dir/table.map" -o "$dir/table/libdriver.so" -lpthread -lm
export ANYNPU_DRIVER_NNAPI=$dir/table/libdriver.so
"$tool" drivers > "$dir/out"
has "$dir/out" 'driver      nnapi libdriver.so: used'
has "$dir/out" 'a device alone: its functions are in the table of ANeuralNetworks_getSLDriverImpl'
for setting in auto driver device; do
  for probe in on off; do
    : > "$dir/log"
    ANYNPU_LOG=warn ANYNPU_NNAPI=$setting ANYNPU_PROBE=$probe ANYNPU_FALLBACK=off "$build/examples/nnapi_digits" \
      examples/digits/digits.weights "${images[@]}" > "$dir/out" ||
      { cat "$dir/out" "$dir/log"; fail "a table, $setting"; }
    has "$dir/out" '59 of 60 right'
    lines=1
    [ $setting != device ] || lines=0
    [ "$(grep -c 'the driver takes no calls' "$dir/log")" = $lines ] && [ "$(wc -l < "$dir/log")" = $lines ] ||
      { cat "$dir/log"; fail "not $lines lines of a table, $setting"; }
  done
done
"$tool" run "$dir/net/digits.onnx" --device nnapi -i "${images[0]}" \
  --expect probabilities="$dir/cpu/probabilities.npy" > "$dir/out" || { cat "$dir/out"; fail "--device of a table"; }
has "$dir/out" 'nnapi: 9'
# Damaged tables: one line each, here and in the tool.
broken() { # NAME CODE WANT
  echo "void *ANeuralNetworks_getSLDriverImpl(void) { static long long t[107]; $2 }" |
    gcc -shared -fPIC -x c - -o "$dir/table/$1.so"
  export ANYNPU_DRIVER_NNAPI=$dir/table/$1.so
  "$tool" drivers > "$dir/out"
  has "$dir/out" "driver      nnapi $1.so: refused"
  has "$dir/out" "$3"
  for probe in on off; do
    [ "$1" != crash ] || [ $probe = on ] || continue
    : > "$dir/log"
    ANYNPU_PROBE=$probe "$build/examples/nnapi_digits" examples/digits/digits.weights "${images[@]}" > "$dir/out" ||
      fail "a driver with a table: $1"
    has "$dir/log" "$3"
    [ "$(wc -l < "$dir/log")" = 1 ] || { cat "$dir/log"; fail "not one line of the table $1"; }
  done
}
broken null 'return t[0] ? t : (void *)0;' 'ANeuralNetworks_getSLDriverImpl gives no table'
broken level 'return t;' 'the table of ANeuralNetworks_getSLDriverImpl has the level 0, which is none of the API'
broken future 't[0] = 1000005; return t;' 'has the level 1000005, which is none of the API'
broken empty 't[0] = 1000008; return t;' \
  'the table of ANeuralNetworks_getSLDriverImpl lacks ANeuralNetworks_getDeviceCount'
broken crash '*(volatile long long *)8 = 1; return t;' 'opening it ends in signal 11 (segmentation fault)'
unset ANYNPU_DRIVER_NNAPI
# A driver of OH_NN takes graphs too. Its second device adds alone.
mkdir "$dir/nnrt"
gcc "${flags[@]}" -shared -fPIC -DCALLS='"zcalls_ohnn.h"' -DCOMPUTE='"nnrt.h"' "$here/fake.c" \
  -Wl,-soname,libneural_network_runtime.so -o "$dir/nnrt/libneural_network_runtime.so" -lpthread -lm
cat > "$XDG_CONFIG_HOME/anynpu/drivers.d/nn.json" << JSON
{"schema": "anynpu.driver/1", "name": "fake NN", "api": "ohnn", "library": "$dir/nnrt/libneural_network_runtime.so"}
JSON
echo '{"anynpu.dim.N": 1}' > "$dir/net/digits.onnx.anynpu.json"
export KEEPS=/libneural_network_runtime.so
ANYNPU_OHNN=device who=ohnn model=$dir/net/digits.onnx inner "$dir/nnrt/libneural_network_runtime.so" ohnn rknn
unset KEEPS
metadata ''
by() { # DEVICE PLACEMENT
  "$tool" run "$dir/net/digits.onnx" --device "$1" --dot "$dir/$1.dot" -i "${images[0]}" --rtol 1e-3 \
    --expect probabilities="$dir/cpu/probabilities.npy" > "$dir/out" ||
      { cat "$dir/out"; fail "anynpu run --device $1"; }
  has "$dir/out" "$2"
}
by ohnn 'ohnn: 9'
has "$dir/ohnn.dot" 'label="part 0 on ohnn"'
# The sum alone is not worth the way there.
by ohnn2 'cpu: 9'
has "$dir/ohnn2.dot" 'on cpu"'
has "$dir/ohnn2.dot" 'to cross alone, '
! "$tool" run examples/digits/digits.onnx --device ohnn3 -i "${images[0]}" > "$dir/out" 2>&1 ||
  fail "a third device of two"
has "$dir/out" 'no device ohnn3: its driver has 2'
echo "devices: passed"
