#!/usr/bin/env bash
# usage: bench/arm64_mca.sh
# What llvm-mca says of the inner loops of the kernels for arm64: cycles of a turn, and the share of the multiply-adds,
# or of the sums of Winograd's transforms, that the processor could issue in that time, by the same model. Cycles of a
# loop whose operands are in the nearest cache: not of memory. A Cortex-A55 issues one multiply-add of 128 bits in a
# cycle; llvm-mca assumes two of float32, so a turn takes at least as many cycles as it has multiply-adds. llvm-mca has
# a model of the Cortex-A76's core from version 17 on, as neoverse-n1; its cortex-a76 is a Cortex-A57.
set -euo pipefail
cd "$(dirname "$0")/.."
mca=$(command -v llvm-mca-19 llvm-mca-18 llvm-mca-17 llvm-mca-16 llvm-mca | head -1) ||
  { echo "SKIP: no llvm-mca (Debian: llvm-19)"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 GOARCH=arm64 go build -o "$work/isas" ./backends/cpu/kernel/isas

# loop FUNCTION N SUMS: the instructions of the Nth innermost loop that holds SUMS.
loop() {
  aarch64-linux-gnu-objdump -d --no-show-raw-insn --disassemble="github.com/anynpu/anynpu/backends/cpu/kernel.$1.abi0" "$work/isas" |
    awk -v wanted="$2" -v sums="^($3)" '
      /^ *[0-9a-f]+:\t/ { split($0, f, ":\t"); gsub(/ /, "", f[1]); at[n] = f[1]; sub(/[ \t]*\/\/.*/, "", f[2]); text[n] = f[2]; place[f[1]] = n++ }
      END {
        for (i = 0; i < n; i++) if (match(text[i], /^(b\.[a-z]+|cbnz|cbz)\t/)) {
          m = split(text[i], w, /[ \t,]+/); target = w[m]; if (target ~ /^</) target = w[m-1]
          if (!(target in place) || place[target] >= i) continue
          held = 0; inner = 0
          for (j = place[target]; j < i; j++) { if (text[j] ~ sums) held++; if (text[j] ~ /^(b\.|cb|b\t)/) inner++ }
          if (held == 0 || inner || ++found != wanted) continue
          for (j = place[target]; j < i; j++) print text[j]
        }
      }'
}

# cycles CPU FILE: of one turn.
cycles() { "$mca" -mtriple=aarch64 -mcpu="$1" -mattr=+dotprod,+i8mm,+fullfp16 -iterations=200 "$2" 2> /dev/null | awk '/^Total Cycles/ { print $3 / 200 }'; }

printf '%-24s %-12s %12s %14s %8s %6s\n' 'inner loop' processor instructions 'multiply-adds' cycles share
while read -r function number sums; do
  loop "$function" "$number" "$sums" > "$work/loop.s"
  n=$(grep -cE "^($sums)" "$work/loop.s") all=$(wc -l < "$work/loop.s")
  [ "$n" -gt 0 ] || { echo "arm64_mca: $function has no loop $number of $sums"; exit 1; }
  case $sums in
    fmla) sample='fmla v%d.4s, v30.4s, v31.s[0]' ;;
    fadd*) sample='fadd v%d.4s, v30.4s, v31.4s' ;;
    usmmla) sample='usmmla v%d.4s, v30.16b, v31.16b' ;;
    *dot) sample="$sums v%d.4s, v30.16b, v31.4b[0]" ;;
    *) sample='smull v%d.8h, v30.8b, v31.8b' ;;
  esac
  for i in $(seq 0 23); do printf "$sample\n" "$i"; done > "$work/peak.s"
  case $sums in
    usmmla) cpus="cortex-a510 cortex-a710 neoverse-v1" ;;
    *) cpus="cortex-a55 cortex-a76 neoverse-n1" ;;
  esac
  for cpu in $cpus; do
    c=$(cycles $cpu "$work/loop.s") p=$(cycles $cpu "$work/peak.s")
    [ -n "$c" ] && [ -n "$p" ] || { echo "$function: $mca does not model it for $cpu"; continue; }
    awk -v f="$function" -v cpu=$cpu -v all="$all" -v n="$n" -v c="$c" -v p="$p" \
      'BEGIN { if (cpu == "cortex-a55") { if (p < 24) p = 24; if (c < n) c = n }
               printf "%-24s %-12s %12d %14d %8.1f %5.0f%%\n", f, cpu, all, n, c, 100 * n * p / 24 / c }'
  done
done << 'LOOPS'
gemm5x16NEON 1 fmla
gemm8x8NEON 1 fmla
gemm1x16NEON 1 fmla
dot4x8NEON 1 smull|smlal
dot5x16DotProd 1 sdot
dot6x16I8MM 1 usmmla
dw3s1x8NEON 1 fmla
dw3s2x8NEON 1 fmla
dw5s1x8NEON 1 fmla
winoInputNEON 1 fadd|fsub|fmla|fmls|fmul
LOOPS
