#!/usr/bin/env bash
# usage: race.sh [long]
# The tests under Go's race detector, with -short: those of values compute at one instruction set. The suite go runs all
# tests of all packages. Left out here are packages that compute in their caller's goroutine, as there is nothing to
# detect; it is an error if one of them starts another. So are those whose tests look at lists of cases, at the built
# library and child processes, of which the detector sees nothing, or at results of the engine, whose own tests run
# here. Of the reference kernels run the tests alone that start goroutines. Children of tests do not wait for a second
# at their end. Packages that compute through others, whose tests run here, and those with little that runs at once are
# left to test-long, which runs them by race.sh long: so are the plans of backends/cpu, whose own tests start no
# goroutine, while those of backends/cpu run plans in a pool.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
alone=(
  backends/cpu/kernel backends/cpu/plan/mincut backends/cpu/plan/ops backends/settings capi/abi
  capi/abi/abicheck capi/abi/gen capi/goruntime capi/nnapi/lowering conformance/cmd/conformance
  conformance/ohnn/model conformance/ohnn/operators conformance/onnx/attributes conformance/onnx/cases
  conformance/onnx/forms conformance/onnx/imports conformance/onnx/microsoft conformance/onnx/networks
  conformance/onnx/opsets conformance/statements core/convert core/fault core/format/metadata
  core/format/onnx/expand core/format/rknn core/graph core/matrix core/op core/op/opcase core/rewrite core/spec/nnapi
  core/spec/nnapi/gen core/spec/ohnn core/spec/rknn core/tensor internal/built internal/environ internal/layout
  internal/messages internal/nnapicalls internal/npy internal/profile internal/tensordiff scripts/gotest
  scripts/language scripts/packages/sbom scripts/packages/wheel scripts/picture
)
unseen=(
  conformance/bombs conformance/graphs conformance/hbdnn/rules conformance/mutants/semantics conformance/names
  conformance/nnapi/networks conformance/nnapi/operations conformance/nnapi/rules conformance/ohnn
  conformance/ohnn/networks conformance/ohnn/rules conformance/onnx/node conformance/rknn conformance/rknn/numerics
  conformance/rknn/rules conformance/sizes conformance/strangers conformance/suite/cmem conformance/suite/numbers
  conformance/suite/trace internal/devicecheck
)
later=(
  backends/cpu/matmul backends/cpu/plan backends/cpu/plan/run backends/dl backends/dl/loader backends/hbdnn
  backends/hbucp backends/ohnn backends/onnxruntime backends/remote/link backends/rknn capi/devices capi/hb capi/hbucp
  capi/watch cmd/anynpu conformance/hbucp/rules conformance/suite conformance/suite/models core/device core/devicetest
  core/format/onnx core/format/onnx/export core/format/onnx/lower core/format/onnx/proto core/io core/logging core/model
  core/record core/tensordump internal/layers internal/oip internal/serve/models internal/session
)
started=$(for folder in "${alone[@]}"; do grep -nE '^[[:space:]]*go [a-z]|\.Go\(|\.Parallel\(' "$folder"/*.go || true; done)
[ -z "$started" ] || { echo "race.sh leaves these packages out, but they start goroutines:"; echo "$started"; exit 1; }
for folder in "${alone[@]}" "${unseen[@]}" "${later[@]}"; do
  [ -d "$folder" ] || { echo "race.sh leaves out $folder, which is not there"; exit 1; }
done
echo "without goroutines, left out: ${alone[*]}"
echo "seen by no detector, left out: ${unseen[*]}"
export GORACE=atexit_sleep_ms=10
flags=(-count=1 -vet=off -short -race)
if [ "${1:-}" = long ]; then
  go run ./scripts/gotest "${flags[@]}" "${later[@]/#/./}"
  exit
fi
echo "left to test-long: ${later[*]}"
go run ./scripts/gotest "${flags[@]}" -run 'TestComputeContext|TestPauses' ./backends/cpu/ref
left=$(IFS='|'; echo "backends/cpu/ref|${alone[*]}|${unseen[*]}|${later[*]}")
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... |
  grep -vE "^github.com/anynpu/anynpu/($left)\$" |
  xargs go run ./scripts/gotest "${flags[@]}"
