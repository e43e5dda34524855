#!/usr/bin/env bash
# usage: memcheck.sh PROGRAM ARGS...
# Runs a host under valgrind. It fails if the host fails, memory is definitely lost, or a bad access is reported to the program's memory.
#
# Accesses to Go's own stacks are reported by mistake, not in every run: when a call switches to a goroutine's stack that happens to lie
# near the one before, valgrind takes the switch for a stack that shrank. Such an address is in an anonymous segment; memory of the
# program's is in a block or on a thread's stack, and valgrind says so. For the same reason it takes values on Go's stacks for uninitialised,
# so those reports are switched off.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
valgrind --fair-sched=try --undef-value-errors=no --leak-check=full --show-leak-kinds=definite --suppressions="$here/valgrind.supp" --log-file="$log" "$@" ||
  { tail -40 "$log"; exit 1; }
awk '/definitely lost:/ && $4 != "0" {print; bad = 1}
     / Invalid (read|write|free)/ {what = $0; where = ""}
     / at 0x/ && what != "" && where == "" {where = $0}
     / Address 0x/ && what != "" {
       if ($0 !~ /rw- anonymous segment/) {print what; print where; print; bad = 1}
       what = ""
     }
     END {exit bad}' "$log" || { sed -n '1,200p' "$log"; exit 1; }
