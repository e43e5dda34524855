#!/usr/bin/env bash
# usage: uninstall.sh ROOT
# Removes what install.sh has installed below ROOT and nobody has changed since, and the folders that it made and that
# are empty.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
. scripts/manifest.sh
root=$1
[ -f "$root/$manifest" ] || { echo "uninstall: $root/$manifest: there is none, so nothing of AnyNPU's is known to be installed" >&2; exit 1; }
declare -A written=()
folders=()
read_manifest "$root/$manifest"
for path in "${!written[@]}"; do
  if is_ours "$root" "$path"; then
    rm -f "$root/$path"
  elif [ -e "$root/$path" ] || [ -L "$root/$path" ]; then
    echo "uninstall: $root/$path stays: it was changed since it was installed" >&2
  fi
done
rm -f "$root/$manifest"
for path in "${folders[@]}"; do
  if [ -d "$root/$path" ]; then rmdir --ignore-fail-on-non-empty "$root/$path"; fi
done
