#!/usr/bin/env bash
# Fails if a file holds the marks of an unfinished merge, or if `make generate` changes a file. The files are up to date
# afterwards either way; those that did not change keep their times, so that make builds nothing again.
set -euo pipefail
cd "$(dirname "$0")/.."
files() { find . \( -path ./build -o -path ./.git -o -path ./.venv -o -name __pycache__ \) -prune -o -type f "$@"; }
sums() { files -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; }
times() { files -printf '%T@ %p\n' | LC_ALL=C sort; }
! grep -rnE '^(<<<<<<<|>>>>>>>) ' --exclude-dir=build --exclude-dir=.git . || { echo "an unfinished merge"; exit 1; }
before=$(mktemp) after=$(mktemp) old=$(mktemp)
trap 'rm -f "$before" "$after" "$old"' EXIT
sums > "$before"
times > "$old"
make --no-print-directory generate > /dev/null
sums > "$after"
changed=$(diff "$before" "$after" | awk '/^[<>]/ {print $3}' | sort -u) || true
times | LC_ALL=C comm -23 "$old" - | while read -r time file; do
  grep -qxF -- "$file" <<< "$changed" || touch -c -d "@$time" "$file"
done
[ -z "$changed" ] || {
  echo "these files were not what their generators give:"
  sed 's/^/  /' <<< "$changed"
  exit 1
}
echo "every generated file is what its generator gives"
