#!/usr/bin/env bash
# usage: fuzz.sh DURATION [FOLDER...]
# Runs every Go fuzz target for DURATION, or those below the FOLDERs. Minimising an input, which by default may take a minute each, is kept
# short.
set -euo pipefail
cd "$(dirname "$0")/.."
duration=$1
shift
git grep -l '^func Fuzz' -- "$@" | grep '_test\.go$' | while read -r file; do
  sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
    echo "--- $target (./$(dirname "$file"))"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 10x "./$(dirname "$file")" < /dev/null
  done
done
