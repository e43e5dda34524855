#!/usr/bin/env bash
# Go hosts linked by cgo, ten times each: two Go runtimes in one process are not a combination that Go promises.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_CFLAGS="'-I$PWD/include'" CGO_LDFLAGS="'-L$lib' '-Wl,-rpath,$lib'"
go build -o "$dir/host" ./ctest/gohost/testdata/host.go
go build -o "$dir/rknn" ./ctest/gohost/testdata/rknn
# ten COMMAND...
ten() {
    for _ in $(seq 10); do timeout 600 "$@" > "$dir/out" || { cat "$dir/out"; exit 1; }; done
    cat "$dir/out"
}
ten "$dir/host"
ten "$dir/rknn" examples/digits/digits.onnx examples/digits/images/*.pgm
