#!/usr/bin/env bash
# Lists the lines of hand-written Go, C and shell that are wider than 120 columns, and fails if there are more than
# those that nothing can break well: raw strings, tables in comments, commands within quotes. Lower the number when they
# become fewer, and do not raise it.
set -euo pipefail
cd "$(dirname "$0")/.."
most=245
wide=$(find . \( -path './.?*' -o -path ./build \) -prune -o -type f ! -name 'z*' \
  \( -name '*.go' -o -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' -o -name '*.sh' \) -exec grep -HnE '^.{121}' {} \
    + || true)
count=$(grep -c . <<< "$wide" || true)
[ "$count" -le $most ] || {
  echo "$wide"
  echo "$count lines are wider than 120 columns, at most $most may be"
  exit 1
}
