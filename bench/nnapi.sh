#!/usr/bin/env bash
# usage: nnapi.sh DIR LIBDIR SECONDS THREADS PATTERNS
# Every network of DIR whose name one of PATTERNS matches, with each of THREADS (both lists with commas), built by calls
# of NNAPI and loaded from its ONNX file by turns. Prints figures, asserts no times.
set -euo pipefail
bin=$1 lib=$(realpath "$2") seconds=$3
IFS=, read -ra threads <<< "$4"
IFS=, read -ra patterns <<< "$5"
for model in "$bin"/models/*.onnx; do
  name=$(basename "$model" .onnx)
  for pattern in "${patterns[@]}"; do
    # shellcheck disable=SC2053 # a pattern
    [[ $name == $pattern ]] || continue
    "$bin/nnapicalls" "$model" "$bin/models/$name.nnapi"
    for t in "${threads[@]}"; do
      printf '%s, threads %s: ' "$name" "$t"
      ANYNPU_THREADS=$t "$bin/calls" "$lib" "$model" "$bin/models/$name.nnapi" "$seconds"
    done
    rm "$bin/models/$name.nnapi"
    break
  done
done
