#!/usr/bin/env bash
# usage: suite.sh test|long [SUITE...]
# Runs the suites of scripts/suites one after the other, or those that are named, whatever their tier. Goes on after a failure, and ends
# with the seconds of each, those of processors beside those of the clock: on a busy machine only the first tell what a suite costs.
set -uo pipefail
cd "$(dirname "$0")/.."
usage() { echo "usage: suite.sh test|long [SUITE...]"; exit 2; }
tier=${1:-}
[ "$tier" = test ] || [ "$tier" = long ] || usage
shift
names=() commands=() known=()
while read -r name when command; do
  case $name in ''|'#'*) continue ;; esac
  known+=("$name")
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  elif [ "$when" != test ] && [ "$tier" != long ]; then
    continue
  fi
  names+=("$name") commands+=("$command")
done < scripts/suites
for name in "$@"; do
  case " ${known[*]} " in
    *" $name "*) ;;
    *) echo "SUITES has \"$name\": want some of ${known[*]}"; exit 2 ;;
  esac
done

table=() failed=0 begin=$SECONDS spent=0
for i in "${!names[@]}"; do
  echo "--- ${names[i]}: ${commands[i]}"
  start=$SECONDS before=$(mktemp) after=$(mktemp)
  times > "$before"
  if (eval "set -f; ${commands[i]}"); then result=ok; else result=FAILED failed=1; fi
  times > "$after"
  cpu=$(awk 'FNR == 2 {
    for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum[FILENAME] += 60 * part[1] + part[2] }
  } END { printf "%.0f", sum[ARGV[2]] - sum[ARGV[1]] }' "$before" "$after")
  rm -f "$before" "$after"
  spent=$((spent + cpu))
  table+=("$(printf '%-12s %5d s %6d s of processors  %s' "${names[i]}" $((SECONDS - start)) "$cpu" "$result")")
done
echo "--- seconds per suite"
printf '%s\n' "${table[@]}"
printf '%-12s %5d s %6d s of processors\n' total $((SECONDS - begin)) "$spent"
exit $failed
