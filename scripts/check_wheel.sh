#!/usr/bin/env bash
# Makes the Python wheel of what is built, installs it in a new virtual environment, and runs
# python/tests/test_session.py and the tool there. NumPy is fetched; where it cannot be had, the suite is skipped.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
dir=$build/wheel
rm -rf "$dir"
mkdir -p "$dir"
scripts/need.sh '?python3 -m ensurepip --version:python3,python3-venv'
python3 -m venv "$dir/venv" > "$dir/log" 2>&1 || \
  { echo "SKIP: no virtual environment: $(tail -n 1 "$dir/log")"; exit 0; }
"$dir/venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy > "$dir/log" 2>&1 ||
  { echo "SKIP: no NumPy: $(tail -n 1 "$dir/log")"; exit 0; }
version=$(sed -n 's/^#define ANYNPU_VERSION_STRING "\(.*\)"/\1/p' include/anynpu.h)
scripts/install.sh "$dir/tree" "$version" lib include > "$dir/log"
wheel=$(go run ./scripts/packages/wheel "$version" "$dir/tree" "$dir")
"$dir/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$wheel"
PYTHONDONTWRITEBYTECODE=1 "$dir/venv/bin/python" python/tests/test_session.py
"$dir/venv/bin/anynpu" info > "$dir/info"
grep -q "^version *$version$" "$dir/info" || \
  { echo "check_wheel: the tool of the wheel is another: $(head -n 1 "$dir/info")"; exit 1; }
"$dir/venv/bin/anynpu" exec --api rknn -- "$build/examples/rknn_digits" examples/digits/digits.onnx \
  examples/digits/images/*.pgm |
  tail -n 1 | grep 'of 60 right'
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes, installed, and right"
