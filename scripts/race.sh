#!/usr/bin/env bash
# usage: race.sh
# The tests under Go's race detector, with -short: those of values compute at one instruction set. Packages that compute
# in their caller's goroutine are left out, as there is nothing to detect; it is an error if one of them starts another.
# Children of tests do not wait for a second at their end.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
alone=(
  backends/cpu/kernel backends/cpu/ref capi/abi capi/abi/abicheck capi/abi/gen capi/nnapi/lowering
  conformance/cmd/conformance conformance/ohnn/model conformance/ohnn/operators
  conformance/onnx/attributes conformance/onnx/cases conformance/onnx/forms conformance/onnx/imports
  conformance/onnx/microsoft conformance/onnx/networks conformance/onnx/opsets conformance/statements core/convert
  core/format/metadata core/format/rknn core/graph core/op core/op/opcase core/spec/nnapi core/tensor internal/environ
  internal/layout scripts/gotest scripts/picture
)
started=$(for folder in "${alone[@]}"; do grep -nE '^[[:space:]]*go [a-z]|\.Go\(|\.Parallel\(' "$folder"/*.go || true; done)
[ -z "$started" ] || { echo "race.sh leaves these packages out, but they start goroutines:"; echo "$started"; exit 1; }
echo "without goroutines, left out: ${alone[*]}"
go list ./... | grep -vE "/($(IFS='|'; echo "${alone[*]}"))\$" | GORACE=atexit_sleep_ms=10 xargs go run ./scripts/gotest -count=1 -vet=off -short -race
