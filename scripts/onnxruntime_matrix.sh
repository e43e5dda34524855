#!/usr/bin/env bash
# usage: onnxruntime_matrix.sh SITE
# Five programs of the APIs beside the CPU and beside providers of ONNX Runtime, whose packages are unpacked in SITE.
# All cells must find the same digits, and the log says that the provider computed every node.
set -euo pipefail
site=$(realpath "$1")
. "$(dirname "$0")/settings.sh"
programs=(ohnn_digits rknn_digits hbdnn_digits hbucp_digits nnapi_digits)
columns=(cpu runtime openvino qnn)
make --no-print-directory libs "${programs[@]/#/${BUILD:-build}/examples/}" > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache ANYNPU_LOG=info ANYNPU_LOG_FILE=$dir/log
fail() { echo "onnxruntime matrix: $*"; exit 1; }
manifest() { # COLUMN LIBRARY DEVICE
  mkdir "$dir/$1"
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"$1\", \"api\": \"onnxruntime\", \"library\": \"$2\"," \
    "\"devices\": [$3]}" > "$dir/$1/manifest.json"
}
newest=$site/onnxruntime/onnxruntime/capi/libonnxruntime.so.1.32.0
mkdir "$dir/cpu"
manifest runtime "$newest" '{"provider": "CPUExecutionProvider", "kind": "cpu"}'
manifest openvino "$site/onnxruntime_openvino/onnxruntime/capi/libonnxruntime.so.1.24.1" \
  '{"provider": "OpenVINO", "kind": "cpu", "options": {"device_type": "CPU"}}'
manifest qnn "$newest" "{\"provider\": \"QNNExecutionProvider\", \"kind\": \"accelerator\", \"plugin\":
  \"$site/onnxruntime_qnn/onnxruntime_qnn/libonnxruntime_providers_qnn.so\", \"options\": {\"backend_type\": \"htp\"}}"

# The Android program's processor has a name of its own. Programs of hbDNN hand over images, which are a node more.
who() { # PROGRAM COLUMN
  case $1/$2 in
    nnapi_digits/cpu) echo '(nnapi-reference: 8), 0 fallbacks' ;;
    *_digits/cpu) echo "(cpu: ${nodes[$1]}), 0 fallbacks" ;;
    *) echo "(onnxruntime: ${nodes[$1]}), 0 fallbacks" ;;
  esac
}
declare -A nodes=([ohnn_digits]=8 [rknn_digits]=9 [hbdnn_digits]=10 [hbucp_digits]=10 [nnapi_digits]=8)
images=(examples/digits/images/*.pgm)
cells=0
for column in "${columns[@]}"; do
  export ANYNPU_DRIVERS=$dir/$column
  for program in "${programs[@]}"; do
    model=examples/digits/digits.onnx
    case $program in ohnn_digits | nnapi_digits) model=examples/digits/digits.weights ;; esac
    : > "$dir/log"
    timeout 600 "$build/examples/$program" "$model" "${images[@]}" > "$dir/out" 2> "$dir/errors" ||
      { cat "$dir/out" "$dir/errors" "$dir/log"; fail "$program beside $column"; }
    sed -n 's/^\([^:]*: [0-9]\), probability.*/\1/p' "$dir/out" > "$dir/digits"
    [ "$(wc -l < "$dir/digits")" = "${#images[@]}" ] || fail "$program beside $column: not every image has a digit"
    [ -f "$dir/first" ] || cp "$dir/digits" "$dir/first"
    diff "$dir/first" "$dir/digits" || fail "$program beside $column: other digits"
    placed=$(sed -n 's/.*placement="\([^"]*\)".*/\1/p' "$dir/log" | tail -1)
    [[ "$placed" == *"$(who "$program" "$column")" ]] ||
      { cat "$dir/log"; fail "$program beside $column: want $(who "$program" "$column"), got $placed"; }
    printf '%-12s %-8s %s\n' "$program" "$column" "$placed"
    cells=$((cells + 1))
  done
done
echo "$cells of $((${#programs[@]} * ${#columns[@]})) cells, same digits"
