#!/usr/bin/env bash
# Fails if a file holds the marks of an unfinished merge, or if `make generate` changes a file. The files are up to date
# afterwards either way.
set -euo pipefail
cd "$(dirname "$0")/.."
sums() { find . \( -path ./build -o -path ./.git -o -path ./.venv -o -name __pycache__ \) -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; }
! grep -rnE '^(<<<<<<<|>>>>>>>) ' --exclude-dir=build --exclude-dir=.git . || { echo "an unfinished merge"; exit 1; }
before=$(mktemp) after=$(mktemp)
trap 'rm -f "$before" "$after"' EXIT
sums > "$before"
make --no-print-directory generate > /dev/null
sums > "$after"
diff "$before" "$after" > /dev/null || {
  echo "these files were not what their generators give:"
  diff "$before" "$after" | awk '/^[<>]/ {print "  " $3}' | sort -u
  exit 1
}
echo "every generated file is what its generator gives"
