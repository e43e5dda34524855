#!/usr/bin/env bash
# usage: check_export.sh
# Exports the cases of every operator and the random graphs, has onnx.checker judge the files and ONNX Runtime compute
# them. Both come from PyPI into build/export-venv; says SKIP and why where they cannot be had.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
venv=$build/export-venv
if [ ! -e "$venv/ready" ]; then
  scripts/need.sh python3:python3-venv > /dev/null || { echo "SKIP: no python3 with venv"; exit 0; }
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 ml_dtypes \
    numpy ||
    { echo "SKIP: onnx and onnxruntime cannot be installed"; exit 0; }
  touch "$venv/ready"
fi
cases=$(mktemp -d)
trap 'rm -rf "$cases"' EXIT
ANYNPU_EXPORT_CASES=$cases go test -count=1 -v -run '^TestOf_writesCases$' ./core/format/onnx/export | grep '^exported'
"$venv/bin/python" scripts/check_export.py "$cases"
