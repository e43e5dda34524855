#!/usr/bin/env bash
# Logs whose judgement is known: memcheck.sh goes by addresses, not by valgrind's names for them.
set -euo pipefail
cd "$(dirname "$0")"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# expect ok|bad NAME [--own-leaks], with the log's lines on standard input, each after "==7== ", or after "==8== " where
# it begins with "child:"
expect() {
  { echo '**7** go memory 0x1C8D10C00000 0x1C8D11000000'; sed 's/^/==7== /; s/^==7== child:/==8== /'; } > "$log"
  local result=ok
  ./memcheck.sh ${3-} --judge "$log" > /dev/null || result=bad
  [ "$result" = "$1" ] || { echo "$2: judged $result, want $1"; cat "$log"; exit 1; }
}

expect ok "a goroutine's stack that is called a thread's" << 'EOF2'
Invalid write of size 8
   at 0x49AD6EB: runtime.memclrNoHeapPointers (in libanynpu.so.0)
 Address 0x1c8d10ccdf00 is on thread 1's stack

EOF2
expect ok "a system call with memory of Go" << 'EOF2'
Syscall param fstat(buf) points to unaddressable byte(s)
   at 0x4935DEE: internal/runtime/syscall/linux.Syscall6 (in libanynpu.so.0)
 Address 0x1c8d10c00000 is in a rw- anonymous segment

EOF2
expect bad "an anonymous mapping of the program's" << 'EOF2'
Invalid read of size 1
   at 0x109A55: main (host.c:27)
 Address 0x1c8d11000000 is in a rw- anonymous segment

EOF2
expect bad "a block of the program's" << 'EOF2'
Invalid read of size 8
   at 0x49AD6EB: runtime.memmove (in libanynpu.so.0)
 Address 0x4a5b040 is 0 bytes after a block of size 16 alloc'd

EOF2
expect bad "a system call with memory of the program's" << 'EOF2'
Syscall param write(buf) points to unaddressable byte(s)
   at 0x498E1E0: write (write.c:26)
 Address 0x4a5b040 is 0 bytes after a block of size 16 alloc'd

EOF2
expect bad "copying that overlaps" << 'EOF2'
Source and destination overlap in memcpy(0x4a5b041, 0x4a5b040, 8)
   at 0x484C1A2: memcpy (vg_replace_strmem.c:1121)

EOF2
expect bad "memory that is lost" << 'EOF2'
   definitely lost: 1,024 bytes in 1 blocks
EOF2
expect ok "a summary without loss" << 'EOF2'
   definitely lost: 0 bytes in 0 blocks
EOF2
lost='Memcheck, a memory error detector
child:   definitely lost: 56 bytes in 1 blocks'
expect bad "memory that a child has lost" <<< "$lost"
expect ok "what threads that a child lacks had" --own-leaks <<< "$lost"
expect bad "memory that the parent has lost" --own-leaks <<< "$lost
   definitely lost: 1,024 bytes in 1 blocks"
expect bad "a report that a child's lines divide" << 'EOF2'
Invalid read of size 8
child:
   at 0x49AD6EB: runtime.memmove (in libanynpu.so.0)
 Address 0x4a5b040 is 0 bytes after a block of size 16 alloc'd

EOF2
expect bad "a child's report that the parent's addresses divide" --own-leaks << 'EOF2'
child:Invalid read of size 8
 Address 0x1c8d10c00000 is in a rw- anonymous segment
child: Address 0x4a5b040 is 0 bytes after a block of size 16 alloc'd

EOF2
