#!/usr/bin/env bash
# The suites of OH_NN with a fake driver of OH_NN as the first device: the rules hold as they do without it, but for
# those that rules_ohnn.txt names, and every case of every operator is computed, by the driver or by the CPU.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
here=$PWD/ctest/drivers
make --no-print-directory libs > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "judge_ohnn: $*"; exit 1; }
chmod 755 "$dir"
mkdir "$dir/npu"
gcc -Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest -I"$here" -shared -fPIC -DCALLS='"zcalls_ohnn.h"' \
  -DCOMPUTE='"nnrt.h"' "$here/fake.c" -Wl,-soname,libneural_network_runtime.so \
  -o "$dir/npu/libneural_network_runtime.so" -lpthread -lm
GOCACHE=$(go env GOCACHE) # Go's own is in XDG_CACHE_HOME
export GOCACHE XDG_CACHE_HOME=$dir/cache ANYNPU_OHNN=device
export ANYNPU_DRIVER_OHNN=$dir/npu/libneural_network_runtime.so

go run ./conformance/cmd/conformance ohnn rules > "$dir/rules" 2>&1 || true
grep '^ohnn rules: cases [1-9]' "$dir/rules" || { tail "$dir/rules"; fail "the rules were not run"; }
sed -n 's/^\(fail\|skip\)  \([^ ]*\) (\([^)]*\)) .*/\2 \3/p' "$dir/rules" | LC_ALL=C sort |
  diff <(grep -v '^#' "$here/rules_ohnn.txt" | LC_ALL=C sort) - || fail "other cases fail than rules_ohnn.txt has"

go run ./conformance/cmd/conformance ohnn operators > "$dir/operators" 2>&1 ||
  { tail "$dir/operators"; fail "operators"; }
grep '^ohnn operators: ' "$dir/operators"
[ "$(grep -c '^ohnn operators: .* failed 0 (of .* 0 skipped; .* device Device-NPU_' "$dir/operators")" = 2 ] ||
  fail "not every case was computed, or not with the driver"
