#!/usr/bin/env bash
# usage: measure.sh DIR
# What runs cost the rest of a process, with the programs and models in DIR (make bench-measure). Prints figures,
# asserts no times.
set -euo pipefail
bin=$1 models=$1/models
for model in "$models"/*.onnx; do
  case $model in *_qdq.onnx | */matmul_*) continue ;; esac
  echo "--- $(basename "$model" .onnx)"
  "$bin/together" "$model" 10
done
echo "--- idle, after mobilenet_v2_224"
"$bin/idle" "$models/mobilenet_v2_224.onnx"
echo "--- small calls beside resnet50_224"
"$bin/latency" "$models/resnet50_224.onnx" 3

# One CPU: two compute threads beside one.
if ! command -v taskset > /dev/null; then
  echo "taskset is missing: one and two threads on one CPU are not compared"
  exit 0
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
for name in resnet50_224 mobilenet_v2_224 lenet_28; do
  declare -A best=([1]=1e18 [2]=1e18)
  for round in 1 2 3; do
    for threads in 1 2; do
      ms=$(ANYNPU_THREADS=$threads taskset -c "$cpu" "$bin/engine" "$models/$name.onnx" 1 5 "$out" | sed 's/.*"best": \([0-9.]*\).*/\1/')
      best[$threads]=$(awk "BEGIN { print ($ms < ${best[$threads]} ? $ms : ${best[$threads]}) }")
    done
  done
  awk "BEGIN { printf \"%s on one CPU, best ms: 1 thread %.3f, 2 threads %.3f, ratio %.3f\n\", \"$name\", 1e3 * ${best[1]}, 1e3 * ${best[2]}, ${best[2]} / ${best[1]} }"
done
