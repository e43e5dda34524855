#!/usr/bin/env bash
# usage: boards.sh BUILD ROUNDS MODEL...
# What rknn_run takes beside `anynpu bench` of the same file, in turn, with the programs of BUILD (make bench-boards). The
# lowest times count: their ratio is of rknn_run by bench. Prints figures, asserts no times.
set -euo pipefail
build=$1 rounds=$2
shift 2
lowest() { awk -v a="$1" -v b="$2" 'BEGIN { print (a < b ? a : b) }'; }
# field TEXT NAME prints the number after "NAME": in TEXT.
field() { printf '%s' "$1" | tr -d '\n' | sed 's/.*"'"$2"'": *\([0-9.e+-]*\).*/\1/'; }
for model in "$@"; do
  for threads in 1 2; do
    file=1e18 same=1e18 run=1e18 inputs=1e18 outputs=1e18
    for round in $(seq "$rounds"); do
      text=$(ANYNPU_LOG=off ANYNPU_THREADS=$threads "$build/bench/boards" "$model" 1 10)
      run=$(lowest "$run" "$(field "$text" 'run": {"best')")
      inputs=$(lowest "$inputs" "$(field "$text" 'inputs": {"best')")
      outputs=$(lowest "$outputs" "$(field "$text" 'outputs": {"best')")
      file=$(lowest "$file" "$(field "$("$build/bin/anynpu" bench "$model" --threads "$threads" --time 1s --spread 100 --json)" min_ms)")
      same=$(lowest "$same" "$(field "$("$build/bin/anynpu" bench "$model" --threads "$threads" --time 1s --spread 100 --json --api rknn)" min_ms)")
    done
    awk -v name="$(basename "$model" .onnx)" -v t="$threads" -v run="$run" -v file="$file" -v same="$same" -v in_="$inputs" -v out="$outputs" 'BEGIN {
      printf "%s, threads %d: rknn_run %.3f ms, anynpu bench %.3f ms, ratio %.3f; bench --api rknn %.3f ms, ratio %.3f; rknn_inputs_set %.3f ms, rknn_outputs_get %.3f ms\n",
        name, t, 1e3 * run, file, 1e3 * run / file, same, 1e3 * run / same, 1e3 * in_, 1e3 * out }'
  done
done
