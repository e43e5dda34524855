#!/usr/bin/env bash
# usage: memcheck.sh [--own-leaks] PROGRAM ARGS...
#        memcheck.sh [--own-leaks] --judge LOG
# Runs a host under valgrind, or judges the log of such a run. It fails if the host fails, memory is definitely lost, or
# a bad access is reported, be it by the program, the library or a system call, at an address outside the memory of Go's
# runtime.
#
# Forked children write into the same log and are judged as their parent is. A child loses what only the stacks of its
# parent's other threads referred to: with --own-leaks, memory that is lost counts in the parent alone.
#
# In that memory, reports are mistakes, and not the same ones in every run: when a thread changes from one goroutine's
# stack to another that lies near it, valgrind takes the change for a stack that grows or shrinks, and what lies between
# for unused. How it names such an address ("anonymous segment", "thread 1's stack") tells nothing, so the address
# itself is judged: $GO_MEMORY, preloaded, tells valgrind which memory is Go's, and writes it into the log for the
# reports of system calls, which valgrind makes all the same. For the same reason values on Go's stacks count as
# uninitialized, so those reports are switched off. MEMCHECK_SUPPRESSIONS names one more file of suppressions.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

judge() { # LOG
  local line from to address process parent='' ranges=() bad=0
  local -A what=() # the report under way, by process
  while IFS= read -r line; do
    case $line in
    *'go memory 0x'*)
      read -r from to <<< "${line#*go memory }"
      ranges+=("$((from)) $((to))")
      ;;
    esac
    [[ $line =~ ^==([0-9]+)== ]] || continue
    process=${BASH_REMATCH[1]}
    parent=${parent:-$process}
    case $line in
    *'definitely lost:'*)
      [ -n "$own_leaks" ] && [ "$process" != "$parent" ] || [[ $line =~ lost:\ 0\ bytes ]] || { echo "$line"; bad=1; }
      ;;
    *' Invalid '* | *' Mismatched '* | *' Jump to '* | *' Source and destination overlap '* | *' points to '*)
      what[$process]=$line
      ;;
    *' Address 0x'*)
      address=${line#* Address }
      address=$((${address%% *}))
      for range in "${ranges[@]}"; do
        read -r from to <<< "$range"
        ((address < from || address >= to)) || { what[$process]=''; break; }
      done
      [ -z "${what[$process]-}" ] || { echo "${what[$process]}"; echo "$line"; bad=1; }
      what[$process]=''
      ;;
    *'== '*[a-z]*) ;;
    *'== ' | *'==') # the end of a report
      [ -z "${what[$process]-}" ] || { echo "${what[$process]}"; bad=1; }
      what[$process]=''
      ;;
    esac
  done < "$1"
  return $bad
}

own_leaks=''
if [ "$1" = --own-leaks ]; then own_leaks=$1; shift; fi
if [ "$1" = --judge ]; then
  judge "$2"
  exit
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
more=${MEMCHECK_SUPPRESSIONS:+--suppressions=$MEMCHECK_SUPPRESSIONS}
LD_PRELOAD=$GO_MEMORY valgrind --fair-sched=try --error-limit=no --undef-value-errors=no --leak-check=full \
  --show-leak-kinds=definite \
  --suppressions="$here/valgrind.supp" ${more:+"$more"} --log-file="$log" "$@" || { tail -n 40 "$log"; exit 1; }
grep -q 'go memory 0x' "$log" || { echo "the library's Go memory was not seen"; exit 1; }
judge "$log" || { sed -n '1,200p' "$log"; exit 1; }
