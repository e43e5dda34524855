#!/usr/bin/env bash
# usage: judge_vendor.sh
# Judges Rockchip's own library for x86, librknn_api.so of the Python package rknn-toolkit2, by RKNN's rules. It loads
# models of its own format alone and wants a board on USB, so that most cases are skipped or refused: what is shown is
# that the suite ends, with its reports and the reasons. The package, 40 MB, is fetched with pip; where it cannot be
# had, the suite is skipped.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
skip() { echo "SKIP: $*"; exit 0; }
fail() { echo "judge_vendor: $*"; exit 1; }
[ "$(uname -m)" = x86_64 ] || skip "the library is for x86-64"
version=2.3.2 dir=$build/vendor
library=$dir/rknn/api/lib/linux-x86_64/librknn_api.so
if [ ! -f "$library" ]; then
  mkdir -p "$dir"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.10 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 -d "$dir" rknn-toolkit2==$version > "$dir/log" 2>&1 ||
    skip "no rknn-toolkit2: $(tail -n 1 "$dir/log")"
  python3 -m zipfile -e "$dir"/rknn_toolkit2-$version-*.whl "$dir"
  [ -f "$library" ] || fail "rknn-toolkit2 $version has no librknn_api.so"
fi
begin=$SECONDS code=0
timeout 3600 go run ./conformance/cmd/conformance all --api rknn --suite rules --library rknn="$library" --timeout "${1:-60s}" \
  --result "$dir/result.json" --html "$dir/result.html" > "$dir/out" 2> "$dir/err" || code=$?
[ $code = 0 ] || [ $code = 1 ] || { tail -n 5 "$dir/out" "$dir/err"; fail "exit code $code: 124 is a hang"; }
[ -s "$dir/result.json" ] && [ -s "$dir/result.html" ] || fail "there is no report"
head -n 1 "$dir/out"
python3 - "$dir/result.json" << 'END'
import json, sys
api = json.load(open(sys.argv[1]))["apis"][0]
print("librknn_api.so %s:" % api["version"][:24], ", ".join("%s %d" % c for c in sorted(api["counts"].items())))
for reason, count in sorted(api["reasons"].items(), key=lambda r: -r[1])[:6]:
    print("  %5d  %s" % (count, reason[:160]))
END
echo "judged in $((SECONDS - begin)) s, exit code $code; nothing hangs"
