#!/usr/bin/env bash
# usage: suite.sh test|long
# Runs the suites of scripts/suites one after the other, goes on after a failure, and ends with the seconds of each.
set -uo pipefail
cd "$(dirname "$0")/.."
tier=$1
[ "$tier" = test ] || [ "$tier" = long ] || { echo "usage: suite.sh test|long"; exit 2; }
table=() failed=0 begin=$SECONDS
while read -r name when command; do
  case $name in ''|'#'*) continue ;; esac
  [ "$when" = test ] || [ "$tier" = long ] || continue
  echo "--- $name: $command"
  start=$SECONDS
  if (eval "set -f; $command"); then result=ok; else result=FAILED failed=1; fi
  table+=("$(printf '%-12s %5d s  %s' "$name" $((SECONDS - start)) "$result")")
done < scripts/suites
echo "--- seconds per suite"
printf '%s\n' "${table[@]}"
printf '%-12s %5d s\n' total $((SECONDS - begin))
exit $failed
