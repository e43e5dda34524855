#!/usr/bin/env bash
# usage: need.sh [?]COMMAND:PACKAGE[,PACKAGE...]...
# Makes sure that commands exist: as root on a system with apt their packages are installed, else the missing ones are
# named and the script fails. COMMAND is a name, or a name with arguments that must succeed. A command with ? is wanted,
# not needed: its absence is only mentioned.
set -euo pipefail
packages=() missing=() wanted=()
for item in "$@"; do
  name=${item#\?}
  read -ra command <<< "${name%%:*}"
  if command -v "${command[0]}" > /dev/null; then
    [ ${#command[@]} -gt 1 ] || continue
    "${command[@]}" > /dev/null 2>&1 && continue
  fi
  IFS=, read -ra list <<< "${name##*:}"
  packages+=("${list[@]}")
  if [ "$item" = "$name" ]; then missing+=("${command[*]}"); else wanted+=("${command[*]}"); fi
done
[ ${#packages[@]} -gt 0 ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; } > /dev/null && exit 0
  echo "apt-get could not install all of: ${packages[*]}"
fi
[ ${#wanted[@]} -eq 0 ] || echo "not found, its tests are left out: ${wanted[*]}"
[ ${#missing[@]} -eq 0 ] || { echo "missing: ${missing[*]} (Debian packages: ${packages[*]})"; exit 1; }
