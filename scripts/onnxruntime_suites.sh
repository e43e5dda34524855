#!/usr/bin/env bash
# usage: onnxruntime_suites.sh SITE [N]
# The suites of the APIs beside the CPU provider of ONNX Runtime and beside OpenVINO, whose packages are unpacked in
# SITE: each case has the result that it has without them. Nodes that a provider does not take go to the CPU. Known
# differences are in ctest/drivers/rules_onnxruntime.txt with their reasons. N runs each N-th case alone.
set -euo pipefail
site=$(realpath "$1")
sample=${2:-1}
. "$(dirname "$0")/settings.sh"
python3 scripts/onnxruntime_judge.py --test
make --no-print-directory libs > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
go build -o "$dir/conformance" ./conformance/cmd/conformance
GOCACHE=$(go env GOCACHE) # Go's own is in XDG_CACHE_HOME
export GOCACHE XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
manifest() { # COLUMN LIBRARY DEVICE
  mkdir "$dir/$1"
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"$1\", \"api\": \"onnxruntime\", \"library\": \"$2\"," \
    "\"devices\": [$3]}" > "$dir/$1/manifest.json"
}
manifest runtime "$site/onnxruntime/onnxruntime/capi/libonnxruntime.so.1.32.0" \
  '{"provider": "CPUExecutionProvider", "kind": "cpu"}'
manifest openvino "$site/onnxruntime_openvino/onnxruntime/capi/libonnxruntime.so.1.24.1" \
  '{"provider": "OpenVINO", "kind": "cpu", "options": {"device_type": "CPU", "num_of_threads": "1"}}'

bad=0
for column in runtime openvino; do
  for suite in "ohnn operators" "rknn rules" "rknn numerics" "nnapi operations"; do
    read -r api name <<< "$suite"
    rm -f "$dir"/report*.json
    ANYNPU_DRIVERS=$dir/$column "$dir/conformance" "$api" "$name" --placement --sample "$sample" \
      --json "$dir/report.json" > "$dir/out" 2>&1 || true
    ls "$dir"/report*.json > /dev/null 2>&1 || { tail "$dir/out"; echo "$suite, $column: no report"; bad=1; continue; }
    python3 scripts/onnxruntime_judge.py ctest/drivers/rules_onnxruntime.txt "$column" "$api-$name" \
      "$dir"/report*.json || bad=1
  done
done
[ "$bad" = 0 ] || { echo "onnxruntime suites: not all is as it should be"; exit 1; }
