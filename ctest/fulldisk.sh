#!/usr/bin/env bash
# usage: fulldisk.sh tmpfs|ext4|limit DIGITS FULLDISK ARGS...
# Programs whose report, log, trace, dump, graphs, profiler.log or cache goes to a disk with little room or none: each
# computes and ends as it does without, and one line says what is missing. DIGITS takes ARGS and uses every API;
# FULLDISK has caches. limit sets the size that files may have instead. Where the machine mounts no such disk the exit
# code is 77.
set -euo pipefail
kind=$1 digits=$2 caching=$3
if [ "$kind" != limit ] && [ -z "${FULLDISK_INSIDE-}" ]; then # mounts of its own, which end with it
  export FULLDISK_INSIDE=1
  [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null && exec unshare -m "$0" "$@"
  unshare -rm true 2> /dev/null || { echo "SKIP: no mounts here: unshare is refused"; exit 77; }
  exec unshare -rm "$0" "$@"
fi
run=("$digits" "${@:4}")
work=$(mktemp -d) disk=$work/disk
mkdir "$disk"
trap 'umount "$disk" 2> /dev/null || true; rm -rf "$work"' EXIT
fail() { echo "fulldisk $kind: $*"; cat "$work/said"; exit 1; }
unset LD_PRELOAD ANYNPU_LOG_FILE ANYNPU_LOG
case $kind in
tmpfs) mount -t tmpfs -o size=256k tmpfs "$disk" 2> "$work/why" ||
  { echo "SKIP: no tmpfs here: $(cat "$work/why")"; exit 77; } ;;
ext4)
  truncate -s 2M "$work/image"
  { mkfs.ext4 -q -m 0 -O ^has_journal "$work/image" && mount -o loop "$work/image" "$disk"; } 2> "$work/why" ||
    { echo "SKIP: no ext4 in a file here: $(tail -1 "$work/why")"; exit 77; }
  ;;
limit) ;;
*) echo "fulldisk: tmpfs, ext4 or limit"; exit 2 ;;
esac
rounds=0
# Leaves so many KiB free, in an empty folder.
room() {
  rm -rf "$disk"/*
  mkdir "$disk/d"
  [ "$kind" != limit ] || return 0
  dd if=/dev/zero of="$disk/filler" bs=1k 2> /dev/null || true
  [ "$1" = 0 ] || truncate -s -"$1"K "$disk/filler"
}
# Runs VARIABLE=VALUE... -- PROGRAM ARGS...; fails if the program does, and puts what it says on standard error into
# said.
try() {
  local got=0
  (
    [ "$kind" != limit ] || ulimit -f "$free"
    exec env "$@"
  ) 2>&1 | cat > "$work/said" || got=$? # the limit is not for what the program says
  [ "$got" = 0 ] || fail "$1 ... with $free KiB: exit code $got"
  rounds=$((rounds + 1))
}
lines() { grep -cF "$1" "$work/said" || true; }
# Wants exactly one line with a text where there is no room, else at most one.
once() {
  local n
  n=$(lines "$1")
  [ "$n" = 1 ] || { [ "$n" = 0 ] && [ "$free" != 0 ]; } || fail "$n lines with \"$1\" with $free KiB"
}
for free in 0 4 12 24 48; do
  room $free
  try ANYNPU_REPORT="$disk/d" "${run[@]}"
  [ "$(($(lines "no report") + $(lines "report is incomplete")))" -le 1 ] ||
    fail "more than one line about the report with $free KiB"
  [ "$free" != 0 ] || once "boundary: no report"
  room $free
  try ANYNPU_LOG=trace ANYNPU_LOG_FILE="$disk/d/log" "${run[@]}"
  once "boundary: lines are missing in the log"
  room $free
  try ANYNPU_LOG=info ANYNPU_LOG_FILE="$disk/d/log" "${run[@]}"
  once "boundary: lines are missing in the log"
  room $free
  try HB_DNN_DUMP_PATH="$disk/d" "${run[@]}"
  once "not written HB_DNN_DUMP_PATH"
  room $free
  try HB_DNN_PROFILER_LOG_PATH="$disk/d" "${run[@]}"
  once "not written HB_DNN_PROFILER_LOG_PATH"
  room $free
  try ANYNPU_DUMP="$disk/d" "${run[@]}"
  once "graphs are not written"
  room $free
  try "$caching" "$disk/d"
  once "OH_NNCompilation_Build"
done
echo "fulldisk $kind: $rounds programs computed and ended as without, with 0 to 48 KiB of room"
