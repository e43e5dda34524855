#!/usr/bin/env bash
# usage: check_compare.sh
# anynpu compare names each of 40 nodes in which scripts/check_compare.py plants a fault.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
venv=$(scripts/ort_venv.sh) || { [ $? = 3 ] && exit 0; exit 1; }
make --no-print-directory "${BUILD:-build}/bin/anynpu" > /dev/null
"$venv/bin/python" scripts/check_compare.py "$build/bin/anynpu"
