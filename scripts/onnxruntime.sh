#!/usr/bin/env bash
# usage: onnxruntime.sh
# Tests backends/onnxruntime, and programs beside it, with the real things: ONNX Runtime, OpenVINO's build of an older
# one, and Qualcomm's plug-in, packages of PyPI that it unpacks into build/onnxruntime/site when they are not there.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: the packages are for x86-64"; exit 0; }
at=$build/onnxruntime
for package in onnxruntime==1.32.0 onnxruntime-openvino==1.24.1 onnxruntime-qnn==2.7.0; do
  name=${package%%==*}
  folder=$at/site/${name//-/_}
  [ ! -e "$folder/${name//-/_}-${package##*==}.dist-info" ] || continue
  if [ ! -e "$at/venv/ready" ]; then
    scripts/need.sh python3:python3-venv > /dev/null || { echo "SKIP: no python3 with venv"; exit 0; }
    python3 -m venv "$at/venv"
    touch "$at/venv/ready"
  fi
  rm -rf "$folder"
  "$at/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" "$package" ||
    { rm -rf "$folder"; echo "SKIP: $package cannot be installed"; exit 0; }
done
ANYNPU_ONNXRUNTIME_SITE=$at/site ANYNPU_ONNXRUNTIME_TESTS=all go test -count=1 -timeout 3h -v ./backends/onnxruntime |
  grep -E '^ *(---|FAIL|ok|panic|fatal)|passed [0-9]+|_test\.go:'
scripts/onnxruntime_matrix.sh "$at/site"
scripts/onnxruntime_refused.sh "$at/site"
scripts/onnxruntime_memory.sh "$at/site"
scripts/onnxruntime_suites.sh "$at/site"
