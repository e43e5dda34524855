#!/usr/bin/env bash
# usage: fuzz.sh DURATION
# Runs every Go fuzz target for DURATION. Minimising an input, which by default may take a minute each, is kept short.
set -euo pipefail
cd "$(dirname "$0")/.."
git grep -l '^func Fuzz' -- '*_test.go' | while read -r file; do
  sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
    echo "--- $target (./$(dirname "$file"))"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 10x "./$(dirname "$file")" < /dev/null
  done
done
