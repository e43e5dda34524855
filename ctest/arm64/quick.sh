#!/usr/bin/env bash
# The kernels of arm64 against their portable twins, each instruction set on an emulated processor that has no higher
# one, with cases thinned out, and plans of networks against the reference.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/need.sh '?qemu-aarch64:qemu-user' > /dev/null
command -v qemu-aarch64 > /dev/null || { echo "SKIP: qemu-aarch64 is not installed (Debian: qemu-user)"; exit 0; }
mkdir -p "${BUILD:-build}/arm64-quick"
build=$(cd "${BUILD:-build}/arm64-quick" && pwd)
export CGO_ENABLED=0 GOARCH=arm64 ANYNPU_LOG_FILE=/dev/null
for package in kernel plan; do
  go test -vet=off -tags emulated -c -o "$build/$package.test" ./backends/cpu/$package
done

# suite CPU PROGRAM TESTS: fails when they do, or when none ran.
suite() {
  local out=$build/out.txt
  (cd "backends/cpu/$2" && timeout 300 qemu-aarch64 -cpu "$1" "$build/$2.test" -test.v -test.run "$3") > "$out" 2>&1 || { grep -v '^=== ' "$out"; echo "arm64: $2 on $1: failed"; exit 1; }
  echo "arm64: $2 on $1: $(grep -c '^--- PASS' "$out") tests passed"
  ! grep -q '^testing: warning: no tests to run' "$out" || { echo "arm64: $2 on $1: no test is named $3"; exit 1; }
}

codes='GemmInt8_equals|GemmInt8_gathers|Requantize_|DepthwiseInt8_'
floats='Table_has|Compare_every|Integers_every|AddRowSums|Gemm_edges|Gemm_specialValues|Gemm_indirect|Depthwise_windows|Pooling_windows|PackWinograd|Unary_trans|Binary_every|Reduce_all|Mix4|Transpose_|FloatToHalf|Decode_|ResizeBytes_|CombineU8|EncodeU8|NearestU8'
suite cortex-a53 kernel "^Test($codes|$floats)/^neon$"
suite cortex-a76 kernel "^Test($codes)/dotprod$"
suite cortex-a76 kernel "^Test(FP16_|UnaryHalves_|BinaryHalves_equal|Table_has)/^fp16$"
suite max kernel "^Test($codes)/i8mm$"
codes='qdqIsWithinOneCodeOfReference|quantEqualsReferenceToTheBit'
suite cortex-a53 plan "^TestBuild_(equalsReference|$codes)$/^neon$"
suite cortex-a76 plan "^TestBuild_($codes)$/^dotprod$"
suite max plan "^TestBuild_($codes)$/^i8mm$"
