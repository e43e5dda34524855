#!/usr/bin/env bash
# usage: check_reproducible.sh [--keep FOLDER] [ARCH...]
# Builds all packages of ARCH (default: amd64 and arm64) twice and compares them byte by byte: a line per file. Each
# build has a clean clone of the commit, in another folder, and the second one comes later, with a compiler cache of its
# own, another umask, time zone and locale. Of a file that differs the members that differ are named. A tree that is not
# committed is copied as it is now, with a line that says so. --keep moves the first build's packages to FOLDER.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
keep=''
if [ "${1:-}" = --keep ]; then keep=$(realpath -m -- "$2"); shift 2; fi
[ $# -gt 0 ] || set -- amd64 arm64
scripts/need.sh '?bsdtar:libarchive-tools' || true
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf --one-file-system "$dir"' EXIT
fail() { echo "check_reproducible: $*"; exit 1; }

unset SOURCE_DATE_EPOCH
if dirty=$(git status --porcelain 2> "$dir/log") && [ -z "$dirty" ]; then
  commit=$(git rev-parse HEAD)
  what="commit ${commit:0:12}"
  tree() { git clone -q --no-hardlinks . "$1" && git -C "$1" checkout -q "$commit"; } # FOLDER
else
  what="the tree as it is, which is not committed"
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2> /dev/null || echo 0)
  export SOURCE_DATE_EPOCH
  mkdir "$dir/tree" # a copy first, so that what changes during a build is in neither
  tar -c --exclude="./$(realpath --relative-to=. "$build")" --exclude=./build --exclude=./.git . | tar -x -C "$dir/tree"
  tree() { cp -a "$dir/tree" "$1"; }
fi
packages() { # FOLDER ARCH...
  local folder=$1; shift
  tree "$folder"
  (cd "$folder" && env -u BUILD make --no-print-directory packages ARCHES="$*" > "$dir/log" 2>&1) ||
    { tail -n 20 "$dir/log"; fail "make packages in $folder"; }
  ! grep '^SKIP' "$dir/log" || true
}
echo "$what: the first build begins at $(date -u +%T)"
packages "$dir/one" "$@"
echo "the second one begins at $(date -u +%T)"
(umask 077 && mkdir "$dir/cache" "$dir/another-folder" &&
  TZ=Asia/Kathmandu LC_ALL=C GOCACHE=$dir/cache packages "$dir/another-folder/deep" "$@")

first=$dir/one/build/packages second="$dir/another-folder/deep/build/packages" equal=0 wrong=0
while IFS= read -r name; do
  if cmp -s "$first/$name" "$second/$name"; then
    echo "equal    $(sha256sum < "$first/$name" | cut -c 1-16)  $(stat -c %s "$first/$name")  $name"
    equal=$((equal + 1))
    continue
  fi
  wrong=$((wrong + 1))
  echo "differs  $name"
  [ -f "$first/$name" ] && [ -f "$second/$name" ] || { echo "  is in one build only"; continue; }
  for side in first second; do
    rm -rf "$dir/$side"
    mkdir "$dir/$side"
    bsdtar -xf "${!side}/$name" -C "$dir/$side" 2> /dev/null || true
    for member in "$dir/$side"/data.tar* "$dir/$side"/control.tar*; do # of a deb package
      [ ! -f "$member" ] || bsdtar -xf "$member" -C "$dir/$side"
    done
  done
  members=$(cd "$dir" && diff -rq first second | head -n 10 | sed 's/^/  /') || true
  echo "${members:-  its members have the same bytes: modes, times, order or compression differ}"
done < <(cd "$dir" && { ls "$first"; ls "$second"; } | LC_ALL=C sort -u)
[ $equal -gt 0 ] || fail "there are no packages"
[ -z "$keep" ] || { mkdir -p "$(dirname "$keep")" && mv "$first" "$keep"; }
echo "reproducible: $equal files of two builds are byte-equal, $wrong differ"
[ $wrong = 0 ]
