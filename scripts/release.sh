#!/usr/bin/env bash
# usage: release.sh VERSION KEY [ARCH...]
# Makes the release VERSION in build/release: packages, their checksums, a detached signature of these by KEY, as gpg
# names it, and an apt repository. It stops before that unless the tree is committed, capi/anynpu and CHANGELOG.md say
# VERSION, and there is no tag of it; and after it, unless the library has all that programs of the newest release in
# scripts/releases need. When all is well it makes the tag vVERSION, signed by KEY, and says what to push. PACKAGES
# names a folder of packages that are built already, ABI=skip leaves the comparison out, TAG=no the tag.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
[ $# -ge 2 ] || { echo "usage: release.sh VERSION KEY [ARCH...]" >&2; exit 2; }
version=$1 key=$2; shift 2
[ $# -gt 0 ] || set -- amd64 arm64
fail() { echo "release: $*" >&2; exit 1; }
step() { echo "release: $*"; }
out=$build/release

have=$(sed -n 's/^const Version = "\(.*\)"/\1/p' capi/anynpu/anynpu.go)
[ "$have" = "$version" ] || fail "capi/anynpu/anynpu.go says $have, not $version"
dirty=$(git status --porcelain)
[ -z "$dirty" ] || fail "not committed: $(head -n 3 <<< "$dirty" | xargs)"
! git rev-parse -q --verify "refs/tags/v$version" > /dev/null || fail "there is a tag v$version"
notes=$(awk -v version="$version" '$1 == "##" {on = $2 == version; next} on' CHANGELOG.md)
[ -n "${notes//[[:space:]]/}" ] || fail "CHANGELOG.md has no section $version"
gpg --batch --list-secret-keys "$key" > /dev/null 2>&1 || fail "gpg has no secret key $key"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

if [ -z "${PACKAGES:-}" ]; then
  step "packages for $*"
  make --no-print-directory packages ARCHES="$*"
  PACKAGES=$build/packages
fi
(cd "$PACKAGES" && sha256sum --quiet -c SHA256SUMS) || fail "the checksums are not those of the packages"
ls "$PACKAGES/libanynpu_$version"*.deb > /dev/null 2>&1 || fail "$PACKAGES has no packages of $version"

if [ "${ABI:-}" != skip ]; then
  read -r old commit < <(grep -v '^#' scripts/releases | tail -n 1) || fail "scripts/releases names no release"
  step "the library of $old, from $commit"
  before=$build/release.baseline
  rm -rf "$before"
  mkdir -p "$before"
  git archive "$commit" | tar -x -C "$before"
  (cd "$before" && env -u BUILD make --no-print-directory libs) > "$before.log" 2>&1 || { tail "$before.log"; fail "the build of $old"; }
  make --no-print-directory libs
  for file in "$before"/build/lib/lib*.so*; do
    [ ! -L "$file" ] || continue
    name=${file##*/}
    [ -f "$lib/$name" ] || fail "$name of $old is gone"
    echo "$name: $(scripts/abi_check.sh "$file" "$lib/$name" | tail -n 1)"
  done
fi

step "checksums, signature, apt repository"
rm -rf "$out"
mkdir -p "$out"
cp "$PACKAGES"/* "$out/"
gpg --batch --yes --local-user "$key" --armor --detach-sign --output "$out/SHA256SUMS.asc" "$out/SHA256SUMS"
printf '%s\n' "$notes" > "$out/NOTES.md"
scripts/apt_repository.sh "$PACKAGES" "$out/apt" "$key"
if [ "${TAG:-}" = no ]; then
  step "$version is in $out, without a tag"
  exit 0
fi
{ echo "AnyNPU $version"; printf '%s\n' "$notes"; } | git tag -s -u "$key" -F - "v$version"
step "$version is in $out; git push origin v$version publishes the tag"
