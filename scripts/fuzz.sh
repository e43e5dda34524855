#!/usr/bin/env bash
# usage: fuzz.sh DURATION [FOLDER...]
# Runs every Go fuzz target for DURATION, or those below the FOLDERs. Minimizing an input, which by default may take a
# minute each, is kept short. A target whose time runs out in the middle of a call may fail with nothing but "context
# deadline exceeded" (golang/go#75804): that is no finding.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
duration=$1
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
time_ran_out() {
  [ "$(sed -n '/^--- FAIL/,/^FAIL$/p' "$out" | sed '1d;$d')" = '    context deadline exceeded' ] &&
    echo "no finding: the time ran out"
}
grep -rl --include='*_test.go' --exclude-dir='.?*' --exclude-dir=build '^func Fuzz' "${@:-.}" | LC_ALL=C sort |
  while read -r file; do
  sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
    echo "--- $target (./$(dirname "$file"))"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 10x "./$(dirname "$file")" \
      < /dev/null 2>&1 | tee "$out" || time_ran_out || exit 1
  done
done
