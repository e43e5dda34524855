#!/usr/bin/env bash
# The operator suite through the C API with every instruction set of the machine, one and two threads, in guard mode, and by reference.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
cts=$(mktemp -d)
trap 'rm -rf "$cts"' EXIT
go build -o "$cts/cts" ./conformance/cmd/cts
run() { # VARIABLE=VALUE...
  echo "$*: $(env "$@" "$cts/cts")"
}
for isa in $(go run ./backends/cpu/kernel/isas); do
  for threads in 1 2; do run ANYNPU_CPU_ISA="$isa" ANYNPU_THREADS="$threads"; done
done
run ANYNPU_MEM=guard
run ANYNPU_CPU=ref
