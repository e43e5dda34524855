#!/usr/bin/env bash
# usage: check_heads.sh
# Detectors, segmentation and stereo whose results are codes, as public programs of both generations of hbDNN decode
# them, beside ONNX Runtime and NumPy (check_heads.py). Says SKIP and why where these cannot be had.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
venv=$(scripts/ort_venv.sh) || { [ $? = 3 ] && exit 0; exit 1; }
make --no-print-directory libs > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
host() { # PROGRAM FLAGS...
  gcc -std=gnu11 -Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest ctest/hb_heads.c -o "$dir/$1" "${@:2}" \
    -L"$lib" -Wl,-rpath,"$lib" -lanynpu -lm
}
host older -ldnn
host newer -DUCP -lhbucp -ldnn
ANYNPU_LOG_FILE=/dev/null "$venv/bin/python" scripts/check_heads.py "$dir" "$dir/older" "$dir/newer"
