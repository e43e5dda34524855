#!/usr/bin/env bash
# usage: ort_venv.sh
# Prints the folder of a Python environment with onnx and ONNX Runtime from PyPI, build/export-venv, which it makes when
# it is not there. Where they cannot be had it prints SKIP and why to standard error and ends with code 3.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
venv=$build/export-venv
if [ ! -e "$venv/ready" ]; then
  scripts/need.sh python3:python3-venv > /dev/null || { echo "SKIP: no python3 with venv" >&2; exit 3; }
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 ml_dtypes \
    numpy ||
    { echo "SKIP: onnx and onnxruntime cannot be installed" >&2; exit 3; }
  touch "$venv/ready"
fi
echo "$venv"
