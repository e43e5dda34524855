#!/usr/bin/env bash
# usage: fuzz.sh [--forever] DURATION [FOLDER...]
# Runs every Go fuzz target for DURATION, or those below the FOLDERs; with --forever in turn until one finds
# something. What a target has learned stays in Go's cache, outside the tree, for the next turn. It ends with the
# first finding, which Go keeps below the package's testdata/fuzz, and with the command that repeats it. Minimizing an
# input, which by default may take a minute each, is kept short. A target whose time runs out in the middle of a call
# may fail with nothing but "context deadline exceeded" (golang/go#75804): that is no finding.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
forever=
[ "${1:-}" != --forever ] || { forever=yes; shift; }
[ $# -gt 0 ] || { echo "usage: fuzz.sh [--forever] DURATION [FOLDER...]"; exit 2; }
duration=$1
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
time_ran_out() {
  [ "$(sed -n '/^--- FAIL/,/^FAIL$/p' "$out" | sed '1d;$d')" = '    context deadline exceeded' ] &&
    echo "no finding: the time ran out"
}
# finding FILE TARGET ends the run with the command that repeats what a target has found.
finding() {
  local input
  input=$(sed -n "s|.*testdata/fuzz/$2/\\([0-9a-f]*\\).*|/\\1|p" "$out" | head -n 1)
  echo "$2 has found something; to repeat it: go test -run '^$2\$$input' ./$(dirname "$1")"
  exit 1
}
turn() {
  grep -rl --include='*_test.go' --exclude-dir='.?*' --exclude-dir=build '^func Fuzz' "${@:-.}" | LC_ALL=C sort |
    while read -r file; do
    sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
      echo "--- $target (./$(dirname "$file"))"
      go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 10x "./$(dirname "$file")" \
        < /dev/null 2>&1 | tee "$out" || time_ran_out || finding "$file" "$target"
    done
  done
}
echo "corpus: $(go env GOCACHE)/fuzz"
turn "$@"
for ((round = 2; ${#forever} > 0; round++)); do
  echo "--- round $round"
  turn "$@"
done
