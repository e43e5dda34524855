#!/usr/bin/env bash
# The operator suite through the C API with every instruction set of the machine, the last in one thread and guard mode,
# and by reference.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/conformance" ./conformance/cmd/conformance
run() { # VARIABLE=VALUE...
  echo "$*: $(env "$@" "$dir/conformance" ohnn operators --mode manual)"
}
isas=($(go run ./backends/cpu/kernel/isas))
for isa in "${isas[@]:0:${#isas[@]}-1}"; do run ANYNPU_CPU_ISA="$isa" ANYNPU_THREADS=2; done
run ANYNPU_CPU_ISA="${isas[-1]}" ANYNPU_THREADS=1 ANYNPU_MEM=guard
run ANYNPU_CPU=ref
