#!/usr/bin/env bash
# The conformance runner with other libraries than the tree's own: a copy under another name, and one that dies in one
# operation and lacks another.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/conformance" ./conformance/cmd/conformance
operators() { "$dir/conformance" ohnn operators --mode manual "$@"; }
cp "$lib/libanynpu.so.0" "$dir/libother.so"
ANYNPU_CTS_LIBRARY=$dir/libother.so operators --run SUB/type_ > "$dir/copy"
grep -q 'failed 0 .* 0 crashes, 0 hangs, 0 skipped; version [0-9]' "$dir/copy" || { cat "$dir/copy"; exit 1; }

gcc -shared -fPIC -Wall -Wextra -Werror -Iinclude ctest/second_library.c -o "$dir/libsecond.so" -Wl,--no-as-needed \
  -L"$lib" \
  -lneural_network_core -Wl,-rpath,"$lib"
export ANYNPU_CTS_LIBRARY=$dir/libsecond.so
outcomes() { # outcomes FILTER EXIT: the statuses of the cases that match, in the report and in JUnit's terms
  local code=0
  operators --run "$1" --json "$dir/json" --junit "$dir/xml" > "$dir/out" 2> "$dir/err" || code=$?
  [ "$code" = "$2" ] || { echo "$1: exit code $code"; cat "$dir/out" "$dir/err"; exit 1; }
  python3 - "$dir" << 'EOF'
import json, sys, xml.etree.ElementTree as et
report = json.load(open(sys.argv[1] + "/json"))
suite = et.parse(sys.argv[1] + "/xml").getroot()
assert len(report["results"]) == int(suite.get("tests")) > 0
assert {p.get("name"): p.get("value") for p in suite.iter("property")} == {k: report[k] for k in ("library", "version", "device")}
assert report["library"].endswith("libsecond.so") and report["version"] and report["device"]
bad = [e.get("type") for c in suite.iter("testcase") for e in c if e.tag in ("failure", "error")]
assert len(bad) == int(suite.get("failures")) + int(suite.get("errors"))
assert len(suite.findall("testcase/skipped")) == int(suite.get("skipped"))
print(*sorted({r["status"] for r in report["results"]}), sorted(set(bad)))
EOF
}
is() { [ "$2" = "$3" ] || { echo "$1: want $3, got $2"; exit 1; }; }
is SUB "$(outcomes SUB/type_ 0)" "pass []"
is MUL "$(outcomes MUL/type_ 0)" "pass skip []" # MATMUL matches as well
is ADD "$(outcomes ADD/type_int 1)" "crash pass ['crash']" # BIAS_ADD matches as well and passes in the processes after the deaths
echo "another library is judged: pass, skip and crash are results"
