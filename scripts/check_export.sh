#!/usr/bin/env bash
# usage: check_export.sh
# Exports the cases of every operator and the random graphs, has onnx.checker judge the files and ONNX Runtime compute
# them (ort_venv.sh), and what programs of each API leave with ANYNPU_DUMP (check_dump.py). Says SKIP and why where
# these cannot be had.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
venv=$(scripts/ort_venv.sh) || { [ $? = 3 ] && exit 0; exit 1; }
cases=$(mktemp -d)
trap 'rm -rf "$cases"' EXIT
ANYNPU_EXPORT_CASES=$cases go test -count=1 -v -run '^TestOf_writesCases$' ./core/format/onnx/export | grep '^exported'
"$venv/bin/python" scripts/check_export.py "$cases"
"$venv/bin/python" scripts/check_dump.py "$lib"
