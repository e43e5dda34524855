#!/usr/bin/env bash
# usage: check_release.sh
# Makes a release with a test key, of small stand-ins for packages, in a repository of its own: what is refused; that
# gpgv takes the signature of the checksums and refuses it when one is another; that apt takes packages from the
# repository by that key alone, and none of a Packages file that is not the signed one; that the tag is signed.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
skip() { echo "SKIP: $*"; exit 0; }
fail() { echo "check_release: $*"; exit 1; }
scripts/need.sh '?gpg:gpg,gpg-agent' '?gpgv:gpgv'
for tool in gpg gpgv dpkg-deb apt-get; do command -v $tool > /dev/null || skip "no $tool"; done
dir=$(mktemp -d)
trap 'GNUPGHOME=$dir/keys gpgconf --kill all 2> /dev/null || true; rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir -m 700 "$dir/keys"
export GNUPGHOME=$dir/keys
for name in release other; do
  gpg --batch --quiet --passphrase '' --quick-generate-key "$name@test.invalid" ed25519 sign never 2> "$dir/log" ||
    { cat "$dir/log"; fail "no test key"; }
done
key=release@test.invalid
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' capi/anynpu/anynpu.go)
arch=$(dpkg --print-architecture)

# A repository with what the release reads, and packages.
tree=$dir/tree
mkdir -p "$tree/capi/anynpu" "$dir/packages" "$dir/deb/DEBIAN"
cp -r scripts .gitignore "$tree/"
cp capi/anynpu/anynpu.go "$tree/capi/anynpu/"
printf '# Changes\n\n## %s\n\n- Something.\n\n## 0.1.0\n\nFirst.\n' "$version" > "$tree/CHANGELOG.md"
git -C "$tree" init -q
commit() { git -C "$tree" add -A && git -C "$tree" -c user.name=t -c user.email=t@test.invalid commit -qm "$1"; }
commit first
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@test.invalid
for name in libanynpu anynpu; do
  printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: t <t@test.invalid>\nDescription: stand-in\n' \
    "$name" "$version" "$arch" > "$dir/deb/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$dir/deb" "$dir/packages/${name}_${version}_$arch.deb" > /dev/null
done
(cd "$dir/packages" && sha256sum -- * > SHA256SUMS)
release() { (cd "$tree" && env -u BUILD ABI=skip PACKAGES="${packages:-$dir/packages}" scripts/release.sh "$@") > "$dir/out" 2>&1; }
refused() { # SENTENCE ARGUMENT...
  local sentence=$1; shift
  ! release "$@" || fail "$sentence: the release was made"
  grep -qF "$sentence" "$dir/out" || { cat "$dir/out"; fail "want \"$sentence\""; }
}
refused "capi/anynpu/anynpu.go says $version, not 9.9.9" 9.9.9 $key
refused "gpg has no secret key nobody@test.invalid" "$version" nobody@test.invalid
echo more >> "$tree/CHANGELOG.md"
refused "not committed: M CHANGELOG.md" "$version" $key
git -C "$tree" checkout -q CHANGELOG.md
sed -i "s/^## $version/## Not released yet/" "$tree/CHANGELOG.md"
commit 'no section'
refused "CHANGELOG.md has no section $version" "$version" $key
git -C "$tree" revert --no-edit HEAD > /dev/null
cp -r "$dir/packages" "$dir/broken"
echo x >> "$dir/broken/anynpu_${version}_$arch.deb"
packages=$dir/broken refused "the checksums are not those of the packages" "$version" $key

release "$version" $key || { cat "$dir/out"; fail "the release"; }
refused "there is a tag v$version" "$version" $key
out=$tree/build/release
git -C "$tree" tag -v "v$version" > "$dir/out" 2>&1 || { cat "$dir/out"; fail "the tag's signature"; }
git -C "$tree" cat-file tag "v$version" | grep -qF -- '- Something.' || fail "the tag has not the changes"
gpgv -q --keyring "$out/apt/anynpu-archive-keyring.gpg" "$out/SHA256SUMS.asc" "$out/SHA256SUMS" 2> "$dir/log" ||
  { cat "$dir/log"; fail "the signature of the checksums"; }
sed 's/^./0/' "$out/SHA256SUMS" > "$dir/sums"
! gpgv -q --keyring "$out/apt/anynpu-archive-keyring.gpg" "$out/SHA256SUMS.asc" "$dir/sums" 2> /dev/null ||
  fail "the signature holds for other checksums"

# apt with a state of its own.
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/etc" "$dir/got"
: > "$dir/apt/status"
apt() { # KEYRING ARGUMENT...
  echo "deb [signed-by=$1] file:$out/apt stable main" > "$dir/apt/etc/sources.list"
  shift
  apt-get -qq -o Dir::Etc::sourcelist="$dir/apt/etc/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$dir/apt" \
    -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root \
    -o APT::Update::Error-Mode=any "$@"
}
ring=$out/apt/anynpu-archive-keyring.gpg
apt "$ring" update > "$dir/log" 2>&1 || { cat "$dir/log"; fail "apt-get update"; }
(cd "$dir/got" && apt "$ring" download libanynpu anynpu) > "$dir/log" 2>&1 || { cat "$dir/log"; fail "apt-get download"; }
for deb in "$dir/packages"/*.deb; do cmp "$deb" "$dir/got/${deb##*/}"; done
gpg --batch --export other@test.invalid > "$dir/other.gpg"
rm -rf "$dir/apt/lists"/*
! apt "$dir/other.gpg" update > "$dir/log" 2>&1 || fail "apt takes the repository by another key"
packages_file=$(echo "$out"/apt/dists/stable/main/binary-"$arch"/Packages)
sed -i 's/stand-in/another!/' "$packages_file"
gzip -9nkf "$packages_file"
rm -rf "$dir/apt/lists"/*
! apt "$ring" update > "$dir/log" 2>&1 || fail "apt takes a Packages file that is not the signed one"
# The same bytes each time, but for signatures.
SOURCE_DATE_EPOCH=5 scripts/apt_repository.sh "$dir/packages" "$dir/one"
SOURCE_DATE_EPOCH=5 scripts/apt_repository.sh "$dir/packages" "$dir/two"
diff -r "$dir/one" "$dir/two"
echo "release $version: 6 refusals, tag and checksums signed, apt takes 2 packages by the key and refuses another key" \
  "and another index"
