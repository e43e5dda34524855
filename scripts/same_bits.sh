#!/usr/bin/env bash
# Networks with made-up weights through every C API: the same bits (ctest/same_bits.c).
set -euo pipefail
. "$(dirname "$0")/settings.sh"
scripts/ctest.sh -R '^same_bits$' > /dev/null # builds it
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
names=(lenet_28 squeezenet11_224 mobilenet_v2_224 encoder_256x4_s128)
go run ./conformance/cmd/conformance generate network "${names[@]}" "$dir"
ANYNPU_LOG_FILE=/dev/null "$build/cmake/ctest/same_bits" "$dir"/*.onnx
