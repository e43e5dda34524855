#!/usr/bin/env bash
# usage: install.sh ROOT VERSION
# Installs what `make` has built below ROOT: headers, libraries, the tool, suppressions, and a pkg-config file per API, for everyone to read
# whatever the umask.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
root=$1 version=$2
umask 022
install -D -m 755 "$build/bin/anynpu" "$root/bin/anynpu"
(cd include && find . -name '*.h' -print0) | while IFS= read -r -d '' header; do
  install -D -m 644 "include/$header" "$root/include/$header"
done
mkdir -p "$root/lib/pkgconfig" "$root/share/anynpu"
install -m 755 "$lib"/*.so "$root/lib/"
install -m 644 ctest/valgrind.supp ctest/tsan.supp "$root/share/anynpu/"
for template in scripts/*.pc.in; do
  file=$root/lib/pkgconfig/$(basename "$template" .in)
  rm -f "$file"
  sed -e "s|@INCLUDE_FROM_PKGCONFIG@|../../include|; s|@PROJECT_VERSION@|$version|" "$template" > "$file"
done
