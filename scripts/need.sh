#!/usr/bin/env bash
# usage: need.sh COMMAND[:PACKAGE]...
# Makes sure that commands exist: as root on a system with apt their packages are installed, else the missing ones are named.
set -euo pipefail
packages=() commands=()
for item in "$@"; do
  command=${item%%:*}
  command -v "$command" > /dev/null && continue
  commands+=("$command") packages+=("${item##*:}")
done
[ ${#commands[@]} -gt 0 ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; } > /dev/null ||
    { echo "apt-get could not install: ${packages[*]}"; exit 1; }
  exit 0
fi
echo "missing: ${commands[*]} (Debian packages: ${packages[*]})"
exit 1
