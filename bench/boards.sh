#!/usr/bin/env bash
# usage: boards.sh BUILD ROUNDS MODEL...
# What rknn_run takes beside `anynpu bench` of the same file, in turn, with the programs of BUILD (make bench-boards).
# The lowest times count: their ratio is of rknn_run by bench. With BASELINE=DIR also what a frame takes,
# rknn_inputs_set and rknn_run, with the libraries in DIR, of another commit: the ratio is of those by these. Prints
# figures, asserts no times.
set -euo pipefail
build=$1 rounds=$2
shift 2
lowest() { awk -v a="$1" -v b="$2" 'BEGIN { print (a < b ? a : b) }'; }
# field TEXT NAME prints the number after "NAME": in TEXT.
field() { printf '%s' "$1" | tr -d '\n' | sed 's/.*"'"$2"'": *\([0-9.e+-]*\).*/\1/'; }
# boards LIBRARIES MODEL THREADS prints the times of one round.
boards() { LD_LIBRARY_PATH=$1 ANYNPU_LOG=off ANYNPU_THREADS=$3 "$build/bench/boards" "$2" 1 10; }
for model in "$@"; do
  for threads in 1 2; do
    file=1e18 same=1e18 run=1e18 inputs=1e18 outputs=1e18 bound=1e18 before=1e18 bound_before=1e18
    for round in $(seq "$rounds"); do
      if [ -n "${BASELINE:-}" ]; then
        text=$(boards "$BASELINE" "$model" "$threads")
        frame=$(awk -v a="$(field "$text" 'run": {"best')" -v b="$(field "$text" 'inputs": {"best')" 'BEGIN { print a + b }')
        before=$(lowest "$before" "$frame")
        bound_before=$(lowest "$bound_before" "$(field "$text" 'bound": {"best')")
      fi
      text=$(boards "$build/lib" "$model" "$threads")
      run=$(lowest "$run" "$(field "$text" 'run": {"best')")
      inputs=$(lowest "$inputs" "$(field "$text" 'inputs": {"best')")
      outputs=$(lowest "$outputs" "$(field "$text" 'outputs": {"best')")
      bound=$(lowest "$bound" "$(field "$text" 'bound": {"best')")
      file=$(lowest "$file" "$(field "$("$build/bin/anynpu" bench "$model" --threads "$threads" --time 1s --spread 100 --json)" min_ms)")
      same=$(lowest "$same" "$(field "$("$build/bin/anynpu" bench "$model" --threads "$threads" --time 1s --spread 100 --json --api rknn)" min_ms)")
    done
    awk -v name="$(basename "$model" .onnx)" -v t="$threads" -v run="$run" -v file="$file" -v same="$same" -v \
      in_="$inputs" -v out="$outputs" \
      -v bound="$bound" -v before="$before" -v bound_before="$bound_before" 'BEGIN {
      printf "%s, threads %d: rknn_run %.3f ms, anynpu bench %.3f ms, ratio %.3f; bench --api rknn %.3f ms, ratio %.3f; rknn_inputs_set %.3f ms, rknn_outputs_get %.3f ms; rknn_run with rknn_set_io_mem %.3f ms\n",
        name, t, 1e3 * run, file, 1e3 * run / file, same, 1e3 * run / same, 1e3 * in_, 1e3 * out, 1e3 * bound
      if (before < 1e17) {
        printf "%s, threads %d: rknn_inputs_set and rknn_run %.3f ms, before %.3f ms, ratio %.3f; with rknn_set_io_mem %.3f ms, before %.3f ms, ratio %.3f\n",
          name, t, 1e3 * (run + in_), 1e3 * before, before / (run + in_), 1e3 * bound, 1e3 * bound_before, bound_before / bound
      }
    }'
  done
done
