#!/usr/bin/env bash
# Every suite that judges a library, against the library with the kernels of each instruction set and with the reference
# kernels. A level that the processor lacks is skipped.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
flags=" $(sed -n '/^flags/{s/^flags[^:]*: //p;q}' /proc/cpuinfo) "

# level NAME SETTING FLAG...
level() {
  local name=$1 setting=$2 flag out
  for flag in "${@:3}"; do
    case $flags in
      *" $flag "*) ;;
      *) echo "SKIP $name: the processor has no $flag"; return ;;
    esac
  done
  out=$build/conformance-$name
  if ! env "$setting" go run ./conformance/cmd/conformance all --html "$out.html" --json "$out.json" > "$out.txt"; then
    cat "$out.txt"
    failed="$failed $name"
  fi
  echo "$name: $(tail -1 "$out.txt")"
}

failed=
level avx512 ANYNPU_CPU_ISA=avx512 avx512f avx512bw avx512dq avx512vl
level avx2 ANYNPU_CPU_ISA=avx2 avx2 fma bmi2 f16c
level portable ANYNPU_CPU_ISA=generic
level ref ANYNPU_CPU=ref
[ -z "$failed" ] || { echo "levels that failed:$failed"; exit 1; }
