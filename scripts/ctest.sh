#!/usr/bin/env bash
# usage: ctest.sh [CTEST OPTION...]
# Configures and builds the C tests against the libraries in the build folder and runs them: without an option those
# that are not labelled long.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
log=$build/cmake.log
mkdir -p "$build"
{ cmake -S . -B "$build/cmake" -DANYNPU_BUILD="$build" && cmake --build "$build/cmake" -j "$(nproc)"; } > "$log" 2>&1 ||
  { cat "$log"; exit 1; }
[ $# -gt 0 ] || set -- -LE '^long$'
options=(-j "$(nproc)" --output-on-failure "$@")
ctest --test-dir "$build/cmake" "${options[@]}" > "$build/ctest.log" 2>&1 ||
  { grep -vE ' Passed | Start ' "$build/ctest.log"; exit 1; }
grep -E 'tests passed|Total Test time' "$build/ctest.log"
awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / && $NF == "sec" {print $(NF - 1), $4}' "$build/ctest.log" | sort -rn |
  awk 'NR == 1 {print "the slowest:"} NR <= 5 {printf "%8.1f s  %s\n", $1, $2}'
