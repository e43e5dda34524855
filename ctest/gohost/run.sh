#!/usr/bin/env bash
# A Go host linked by cgo, ten times: two Go runtimes in one process are not a combination that Go promises.
set -euo pipefail
cd "$(dirname "$0")/../.."
lib=$PWD/build/lib
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CGO_CFLAGS="-I$PWD/include" CGO_LDFLAGS="-L$lib -Wl,-rpath,$lib" go build -o "$dir/host" ./ctest/gohost/testdata/host.go
for i in $(seq 10); do timeout 60 "$dir/host" > "$dir/out" || { cat "$dir/out"; exit 1; }; done
cat "$dir/out"
