#!/usr/bin/env bash
# Programs of each API beside each vendor's driver: a row of the table is a program, a column what is there to compute.
# All cells must find the same digits, and the log says who computed what. Then orders of devices, and what the first of
# them does not compute. The drivers are C files of this folder.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
here=$PWD/ctest/drivers
make --no-print-directory libs "${BUILD:-build}"/examples/{ohnn,rknn,hbdnn,nnapi}_digits > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "matrix: $*"; exit 1; }
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache ANYNPU_LOG=info ANYNPU_LOG_FILE=$dir/log
flags=(-Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest -I"$here")
chmod 755 "$dir"
. "$here/models_hbdnn.sh"

# Columns: the CPU alone, and drivers by the names of their APIs.
columns=(cpu rknn ohnn hbdnn nnapi)
driver() { # COLUMN COMPUTE SONAME: builds a driver and writes its manifest, which takes no calls of its own API
  mkdir -p "$dir/$1/drivers.d"
  chmod 755 "$dir/$1" "$dir/$1/drivers.d"
  gcc "${flags[@]}" -shared -fPIC -DCALLS="\"zcalls_$1.h\"" -DCOMPUTE="\"$2\"" "$here/fake.c" -Wl,-soname,"$3" \
    -o "$dir/$1/$3" -lpthread -lm
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"fake $1\", \"api\": \"$1\", \"library\": \"$dir/$1/$3\"," \
    "\"mode\": \"device\"}" > "$dir/$1/drivers.d/fake.json"
}
mkdir -p "$dir/cpu/drivers.d"
driver rknn npu.h librknnrt.so
driver ohnn nnrt.h libneural_network_runtime.so
driver hbdnn bpu.h libdnn.so
driver nnapi nnapi.h libneuralnetworks.so
{ printf 'RKNN\0\0\0\0FAKENPU\0'; cat examples/digits/digits.weights; } > "$dir/digits.rknn"
bpu_digits > "$dir/digits.bin"
# The ONNX model with both compiled forms, for a program that hands over images.
mkdir "$dir/net"
cp examples/digits/digits.onnx "$dir/digits.rknn" "$dir/digits.bin" "$dir/net/"
form() { # CONTAINER FILE
  local sum
  sum=$(sha256sum < "$dir/net/$2")
  echo "{\"container\": \"$1\", \"file\": \"$2\", \"sha256\": \"${sum%% *}\"}"
}
echo '{"anynpu.input.image.pixel": "gray", "anynpu.input.image.std": [16], "anynpu.dim.N": 1, "anynpu.compiled":' \
  "[$(form rknn digits.rknn), $(form hbdnn digits.bin)]}" > "$dir/net/digits.onnx.anynpu.json"

# Rows: programs, with the model that each is given in a column, and who then computes. A driver of compiled models has
# no compiler: it computes nothing of a graph that is built by calls. hbDNN's programs hand over images, which only the
# CPU turns into numbers, and the rest of so small a network is not worth the way to a driver.
programs=(ohnn_digits rknn_digits hbdnn_digits nnapi_digits)
weights=examples/digits/digits.weights onnx=examples/digits/digits.onnx
cell() { # PROGRAM COLUMN
  case $1/$2 in
    ohnn_digits/cpu) echo "$weights (cpu: 8)" ;;
    ohnn_digits/rknn) echo "$weights (cpu: 8), 8 fallbacks" ;;
    ohnn_digits/ohnn) echo "$weights (ohnn: 8), 0 fallbacks" ;;
    ohnn_digits/hbdnn) echo "$weights (cpu: 8), 8 fallbacks" ;;
    ohnn_digits/nnapi) echo "$weights (nnapi: 8), 0 fallbacks" ;;
    rknn_digits/cpu) echo "$onnx (cpu: 9)" ;;
    rknn_digits/rknn) echo "$dir/digits.rknn (rknn: 1), 0 fallbacks" ;;
    rknn_digits/ohnn) echo "$onnx (ohnn: 9), 0 fallbacks" ;;
    rknn_digits/hbdnn) echo "$dir/digits.bin (hbdnn: 1), 0 fallbacks" ;;
    rknn_digits/nnapi) echo "$onnx (nnapi: 9), 0 fallbacks" ;;
    hbdnn_digits/cpu) echo "$onnx (cpu: 10), 0 fallbacks" ;;
    hbdnn_digits/ohnn) echo "$onnx (cpu: 10), 10 fallbacks" ;;
    hbdnn_digits/rknn) echo "$dir/net/digits.onnx compiled form digits.rknn on rknn" ;;
    hbdnn_digits/hbdnn) echo "$dir/net/digits.onnx compiled form digits.bin on hbdnn" ;;
    hbdnn_digits/nnapi) echo "$onnx (cpu: 10), 10 fallbacks" ;;
    nnapi_digits/cpu) echo "$weights (nnapi-reference: 8)" ;;
    nnapi_digits/rknn | nnapi_digits/hbdnn) echo "$weights (nnapi-reference: 8), 8 fallbacks" ;;
    nnapi_digits/ohnn) echo "$weights (ohnn: 8), 0 fallbacks" ;;
    nnapi_digits/nnapi) echo "$weights (nnapi: 8), 0 fallbacks" ;;
    *) fail "the table has no $1/$2" ;;
  esac
}
images=(examples/digits/images/*.pgm)
run() { # PROGRAM MODEL
  : > "$dir/log"
  timeout 120 "$build/examples/$1" "$2" "${images[@]}" > "$dir/out" 2> "$dir/errors"
}
who() { sed -n 's/.*placement="\([^"]*\)".*/\1/p' "$dir/log" | tail -1; }

cells=0
for program in "${programs[@]}"; do
  for column in "${columns[@]}"; do
    read -r model want <<< "$(cell "$program" "$column")"
    export ANYNPU_DRIVERS=$dir/$column/drivers.d
    run "$program" "$model" || { cat "$dir/out" "$dir/errors" "$dir/log"; fail "$program beside $column"; }
    sed -n 's/^\([^:]*: [0-9]\), probability.*/\1/p' "$dir/out" > "$dir/digits"
    [ "$(wc -l < "$dir/digits")" = "${#images[@]}" ] || fail "$program beside $column: not every image has a digit"
    [ -f "$dir/first" ] || cp "$dir/digits" "$dir/first"
    diff "$dir/first" "$dir/digits" || fail "$program beside $column: other digits"
    [[ "$(who)" == *"$want"* ]] || { cat "$dir/log"; fail "$program beside $column: want $want, got $(who)"; }
    printf '%-12s %-5s %s\n' "$program" "$column" "$(who)"
    cells=$((cells + 1))
  done
done
echo "$cells of $((${#programs[@]} * ${#columns[@]})) cells, same digits"

# The order of devices, of which one adds alone, and what the first of them must compute without the others.
declare -A adder=([ohnn_digits]='(cpu: 8), 8 fallbacks' [rknn_digits]='(cpu: 9), 9 fallbacks')
export ANYNPU_DRIVERS=$dir/ohnn/drivers.d
for program in "${!adder[@]}"; do
  read -r model _ <<< "$(cell "$program" ohnn)"
  ANYNPU_DEVICE=cpu run "$program" "$model" || fail "ANYNPU_DEVICE=cpu"
  [[ "$(who)" == *'(cpu: '[89]'), 0 fallbacks' ]] || fail "$program with ANYNPU_DEVICE=cpu: $(who)"
  ANYNPU_DEVICE=ohnn2,cpu run "$program" "$model" || fail "ANYNPU_DEVICE=ohnn2,cpu"
  [[ "$(who)" == *"${adder[$program]}" ]] || fail "$program with ANYNPU_DEVICE=ohnn2,cpu: $(who)"
  ANYNPU_FALLBACK=off run "$program" "$model" || fail "ANYNPU_FALLBACK=off"
  ! ANYNPU_FALLBACK=off ANYNPU_DEVICE=ohnn2 run "$program" "$model" ||
    fail "$program: a device that adds computes a network"
  grep -E 'oper[a-z]+ 0 \(.*: ohnn2: the driver does not compute OH_NN_OPS_' "$dir/log" > /dev/null ||
    { cat "$dir/log"; fail "$program with ANYNPU_FALLBACK=off: no operator is named"; }
done
ANYNPU_OHNN=cpu run ohnn_digits "$weights" || fail "ANYNPU_OHNN=cpu"
[[ "$(who)" == *'(cpu: 8), 0 fallbacks' ]] || fail "ANYNPU_OHNN=cpu: $(who)"
# In pass-through the driver has the program's own objects, which are none of this library's: no placement.
ANYNPU_OHNN=driver run ohnn_digits "$weights" || { cat "$dir/errors"; fail "ANYNPU_OHNN=driver"; }
[ -z "$(who)" ] || fail "ANYNPU_OHNN=driver: $(who)"
# The second device of the driver of nnapi claims everything, and compiles what the first one does.
export ANYNPU_DRIVERS=$dir/nnapi/drivers.d
ANYNPU_DEVICE=nnapi2,cpu run nnapi_digits "$weights" || fail "ANYNPU_DEVICE=nnapi2,cpu"
[[ "$(who)" == *'(nnapi2: 8), 0 fallbacks' ]] || fail "ANYNPU_DEVICE=nnapi2,cpu: $(who)"
ANYNPU_NNAPI=cpu run nnapi_digits "$weights" || fail "ANYNPU_NNAPI=cpu"
[[ "$(who)" == *'(nnapi-reference: 8), 0 fallbacks' ]] || fail "ANYNPU_NNAPI=cpu: $(who)"
ANYNPU_NNAPI=driver run nnapi_digits "$weights" || fail "ANYNPU_NNAPI=driver"
[ -z "$(who)" ] || fail "ANYNPU_NNAPI=driver: $(who)"
echo "orders and refusals are as they are asked for"
