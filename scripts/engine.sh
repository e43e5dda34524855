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
has() { grep -qw "$1" /proc/cpuinfo; }
levels=(generic)
if has avx2 && has fma && has f16c && has bmi2; then levels+=(avx2); fi
if has avx512f && has avx512bw && has avx512dq && has avx512vl; then levels+=(avx512); fi
for isa in "${levels[@]}"; do
  for threads in 1 2; do run ANYNPU_CPU_ISA="$isa" ANYNPU_THREADS="$threads"; done
done
run ANYNPU_MEM=guard
run ANYNPU_CPU=ref
