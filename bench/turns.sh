#!/usr/bin/env bash
# usage: turns.sh DIR LIBDIR BASELINE SECONDS THREADS PATTERNS
# Every network of DIR whose name one of PATTERNS matches, with each of THREADS (both lists with commas), in the
# libraries of LIBDIR and of BASELINE by turns; those of unsigned images also as frames of bytes by rknn_run. Prints the
# geometric mean of each number of threads. Prints figures, asserts no times.
set -euo pipefail
[ -n "${3-}" ] || { echo "turns.sh: want BASELINE=DIR, the libraries of another commit"; exit 2; }
bin=$1 lib=$(realpath "$2") seconds=$4
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
# What this tree's programs ask the loader for, also where the other commit has the core in a file of another name.
cp -a "$(realpath "$3")"/. "$before"
[ -e "$before/libanynpu.so.0" ] || ln -s libneural_network_core.so "$before/libanynpu.so.0"
[ -e "$before/$(readlink "$before/libanynpu.so.0" || echo libanynpu.so.0)" ] ||
  { echo "$3 has no core library"; exit 1; }
IFS=, read -ra patterns <<< "$6"
IFS=, read -ra threads <<< "$5"
for t in "${threads[@]}"; do
  for model in "$bin"/models/*.onnx; do
    name=$(basename "$model" .onnx) ways=()
    for pattern in "${patterns[@]}"; do
      # shellcheck disable=SC2053 # a pattern
      if [[ $name == $pattern ]]; then ways=(ohnn); fi
    done
    case $name in mobilenet_v2_*) ways+=("${ways[@]/ohnn/image}") ;; esac
    for way in "${ways[@]}"; do
      printf '%s, %s, threads %s: ' "$name" "$way" "$t"
      ANYNPU_THREADS=$t "$bin/turns" "$lib" "$before" "$model" "$seconds" "$way"
    done
  done
done | awk '{
  print
  fflush()
  match($0, /before\/now [0-9.]+/)
  threads = $4
  sum[threads] += log(substr($0, RSTART + 11, RLENGTH - 11))
  count[threads]++
} END { for (t in sum) printf "threads %s geometric mean of before/now %.3f (%d)\n", t, exp(sum[t] / count[t]), count[t] }'
