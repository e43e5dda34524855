#!/usr/bin/env bash
# usage: demo.sh
# Builds the libraries and the five programs that recognize handwritten digits, a line per step with its seconds, and
# runs them: each ends with its verdict. What the steps print goes to build/demo, with a line per digit; a step that
# fails shows the end of its own.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
build=${BUILD:-build} # as make has it
mkdir -p "$build/demo"
failed() { # WHAT FILE
  tail -n 20 "$2"
  echo "demo: $1 failed; all that it printed is in $2"
  exit 1
}
step() { # WHAT FILE TARGET...
  local what=$1 file=$build/demo/$2 start=$SECONDS; shift 2
  printf '%s ... ' "$what"
  "${MAKE:-make}" --no-print-directory "$@" > "$file" 2>&1 || { echo; failed "$what" "$file"; }
  echo "$((SECONDS - start)) s"
}
programs=(rknn_digits hbdnn_digits hbucp_digits nnapi_digits ohnn_digits)
step "building the libraries" libraries.txt libs
step "building five programs, one for each API" programs.txt "${programs[@]/#/$build/examples/}"
for program in "${programs[@]}"; do
  case $program in rknn*|hbdnn*|hbucp*) model=digits.onnx ;; *) model=digits.weights ;; esac
  file=$build/demo/$program.txt
  "$build/examples/$program" "examples/digits/$model" examples/digits/images/*.pgm > "$file" 2>&1 ||
    failed "$program" "$file"
  tail -n 1 "$file"
done
