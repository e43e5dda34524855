#!/usr/bin/env bash
# The rules of the C APIs and the operator suite through them, and the table of operators in docs against what the
# library computes: cases that the suite has passed are not computed for it once more.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
# Tens of thousands of small models leave much garbage in the library: collected less often, it costs a third less time.
GOGC=400 make --no-print-directory conformance
table=$(mktemp)
trap 'rm -f "$table"' EXIT
ANYNPU_LOG=off go run ./conformance/cmd/conformance generate operators --library "$lib/libneural_network_core.so" \
  --passed "$table"
diff -u docs/ohnn-operators.md "$table" || \
  { echo "docs/ohnn-operators.md is out of date: make docs/ohnn-operators.md"; exit 1; }
echo "docs/ohnn-operators.md is what the library computes"
