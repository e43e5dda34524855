#!/usr/bin/env bash
# usage: suite.sh test|long [SUITE...]
# Runs the suites of scripts/suites, or those that are named, whatever their tier. Those of the tier test run two at a
# time, or as many as LANES says, as most of them leave a processor idle; those of the tier long run alone, after them.
# Goes on after a failure, and ends with the seconds of each, those of processors beside those of the clock: on a busy
# machine, and beside another suite, only the first tell what a suite costs. What failed comes last, with the end of its
# output, so that the end of a log tells why.
set -uo pipefail
cd "$(dirname "$0")/.."
usage() { echo "usage: suite.sh test|long [SUITE...]"; exit 2; }
tier=${1:-}
[ "$tier" = test ] || [ "$tier" = long ] || usage
shift
lanes=${LANES:-2}
[[ $lanes =~ ^[1-9][0-9]*$ ]] || { echo "LANES is \"$lanes\": want a number of suites"; exit 2; }
names=() tiers=() after=() commands=() known=()
while read -r name when waits command; do
  case $name in ''|'#'*) continue ;; esac
  known+=("$name")
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  elif [ "$when" != test ] && [ "$tier" != long ]; then
    continue
  fi
  names+=("$name") tiers+=("$when") after+=("$waits") commands+=("$command")
done < scripts/suites
for name in "$@"; do
  case " ${known[*]} " in
    *" $name "*) ;;
    *) echo "SUITES has \"$name\": want some of ${known[*]}"; exit 2 ;;
  esac
done

# Compilers and linkers collect garbage less often: a fifth of their time. What they build does as ever.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }'-toolexec=env GOGC=400'"

dir=$(mktemp -d) pids=()
set -m # a process group for each suite
finish() {
  for pid in "${pids[@]}"; do kill -TERM -- "-$pid" 2> /dev/null; done
  rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

# suite I runs a suite and writes how it ended: its seconds, those of processors, and ok or FAILED.
suite() {
  local start=$SECONDS result=ok
  (eval "set -f; ${commands[$1]}") || result=FAILED
  times > "$dir/$1.times"
  echo "$((SECONDS - start)) $(awk 'NR == 2 {
    for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] }
    printf "%.0f", sum
  }' "$dir/$1.times") $result" > "$dir/$1.new"
  mv "$dir/$1.new" "$dir/$1.end"
}

# may I tells whether a suite can start: nothing runs beside one of the tier long, and what it waits for has ended.
may() {
  [ "${tiers[$1]}" = test ] || [ ${#pids[@]} -eq 0 ] || return
  local i
  for i in "${!names[@]}"; do
    [ "${names[i]}" != "${after[$1]}" ] || [ -f "$dir/$i.end" ] || return
  done
}

# progress shows on a terminal how many suites have ended and which run; "off" removes the line.
progress() {
  [ -t 2 ] && [ ${#names[@]} -gt 1 ] || return 0
  printf '\r\033[K' >&2
  [ "${1:-}" != off ] || return 0
  local i running=
  for i in "${!pids[@]}"; do running+=" ${names[i]}"; done
  printf '%d of %d suites, %d s; running:%s' "$ended" ${#names[@]} $((SECONDS - begin)) "$running" >&2
}

begin=$SECONDS spent=0 failed=0 ended=0 state=()
while [ $ended -lt ${#names[@]} ]; do
  for i in "${!names[@]}"; do
    [ ${#pids[@]} -lt "$lanes" ] || break
    [ -z "${state[i]:-}" ] || continue
    if ! may "$i"; then
      [ "${tiers[i]}" = test ] && continue || break
    fi
    if [ ${#names[@]} = 1 ]; then # its output as it comes
      echo "--- ${names[i]}: ${commands[i]}"
      suite "$i" < /dev/null &
    else
      suite "$i" > "$dir/$i.out" 2>&1 < /dev/null &
    fi
    pids[i]=$! state[i]=running
    [ "${tiers[i]}" = test ] || break
  done
  progress
  wait -n "${pids[@]}"
  progress off
  for i in "${!pids[@]}"; do
    if ! [ -f "$dir/$i.end" ]; then
      ! kill -0 "${pids[i]}" 2> /dev/null || continue
      echo "0 0 FAILED" > "$dir/$i.end"
    fi
    wait "${pids[i]}"
    unset "pids[i]"
    ended=$((ended + 1))
    [ -f "$dir/$i.out" ] || continue
    echo "--- ${names[i]}: ${commands[i]}"
    cat "$dir/$i.out"
  done
done

echo "--- seconds per suite"
for i in "${!names[@]}"; do
  read -r seconds cpu result < "$dir/$i.end"
  spent=$((spent + cpu))
  [ "$result" = ok ] || failed=1
  printf '%-12s %5d s %6d s of processors  %s\n' "${names[i]}" "$seconds" "$cpu" "$result"
done
printf '%-12s %5d s %6d s of processors\n' total $((SECONDS - begin)) "$spent"
for i in "${!names[@]}"; do
  read -r _ _ result < "$dir/$i.end"
  [ "$result" = FAILED ] && [ -f "$dir/$i.out" ] || continue
  echo "--- ${names[i]} FAILED; its output ends with:"
  tail -n 25 "$dir/$i.out"
done
exit $failed
