#!/usr/bin/env bash
# usage: valgrind.sh RUNS
# Runs the hosts of ctest/ under valgrind one round after the other, until there were at least RUNS runs in all.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
want=$1 runs=0 failed=0
scripts/ctest.sh -R '^memcheck_judge$' > /dev/null # builds them
while [ "$runs" -lt "$want" ]; do
  ctest --test-dir "$build/cmake" -j "$(nproc)" --output-on-failure -R '^valgrind_' > "$build/valgrind.log" 2>&1 ||
    grep -vE ' Passed | Start ' "$build/valgrind.log"
  read -r bad all < <(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$build/valgrind.log") ||
    { echo "no host runs under valgrind: is it installed?"; exit 1; }
  runs=$((runs + all)) failed=$((failed + bad))
done
echo "valgrind $runs runs, $failed failed"
[ "$failed" = 0 ]
