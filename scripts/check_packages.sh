#!/usr/bin/env bash
# usage: check_packages.sh [ARCH...]
# The packages of two builds are byte-equal (scripts/check_reproducible.sh); lintian finds no error; the SPDX documents
# name every module; each format's packages together lack nothing that their links lead to, and only libanynpu-single
# holds the core more than once. Then each is tried in fresh roots of Debian's two releases
# (scripts/check_packages_root.sh), the wheel in one of the newer (scripts/check_wheel_root.sh), and a new user's first
# results are timed (scripts/check_first.sh). Without ARCH (amd64, arm64) it is this machine's own, and arm64 where its
# compiler is installed. The last lines sum up.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
skip() { echo "SKIP: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "only root can make another root"
command -v apt-get > /dev/null || skip "this machine has no apt, which names the archive"
scripts/need.sh debootstrap:debootstrap,debian-archive-keyring lintian:lintian bsdtar:libarchive-tools \
  '?musl-gcc:musl-tools' \
  '?aarch64-linux-gnu-gcc -E -include stdlib.h -x c /dev/null:gcc-aarch64-linux-gnu,libc6-dev-arm64-cross' \
  '?qemu-aarch64-static:qemu-user-static' || skip "no debootstrap, lintian or bsdtar"
own=$(dpkg --print-architecture)
arches=("$@")
[ $# -gt 0 ] || arches=("$own")
if [ $# = 0 ] && [ "$own" = amd64 ] && command -v aarch64-linux-gnu-gcc > /dev/null; then arches+=(arm64); fi
dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT
fail() { echo "check_packages: $*"; exit 1; }
told() { echo "$*"; echo "$*" >> "$dir/summary"; } # a line of the summary

packages=$dir/packages
scripts/check_reproducible.sh --keep "$packages" "${arches[@]}" | tee "$dir/log" || fail "two builds"
told "$(tail -n 1 "$dir/log")"

(cd "$packages" && sha256sum --quiet -c SHA256SUMS)
lintian --fail-on error --allow-root "$packages"/*.deb || fail "lintian"
told "lintian: no errors"

# Each format of each machine, unpacked: a folder per package, and all of them together.
unpack() { # PACKAGE FOLDER
  mkdir -p "$2"
  case $1 in
    *.deb) dpkg-deb -x "$1" "$2" ;;
    *.rpm) bsdtar -xf "$1" -C "$2" -s ',^/,,' ;; # whose names are absolute
    *.apk) tar -xzf "$1" -C "$2" --ignore-zeros --warning=no-unknown-keyword ;;
  esac
}
sets=(amd64.deb x86_64.rpm x86_64.apk arm64.deb aarch64.rpm aarch64.apk)
for set in "${sets[@]}"; do
  files=()
  for file in "$packages"/*; do
    case $file in *[._]"$set") files+=("$file") ;; esac
  done
  [ ${#files[@]} -gt 0 ] || continue
  case $set in *.apk) want=4 ;; *) want=5 ;; esac
  [ ${#files[@]} = $want ] || fail "$set: want $want packages, got ${files[*]##*/}"
  all=$dir/$set/all sizes=()
  for file in "${files[@]}"; do
    name=$(basename "$file")
    name=${name%%[-_][0-9]*}
    unpack "$file" "$dir/$set/$name"
    mkdir -p "$all"
    cp -a "$dir/$set/$name/." "$all/"
    cores=$(go version -m "$dir/$set/$name" | grep -c 'path.*/capi$' || true)
    case $name in
      libanynpu-single) want=$(find capi/stub -name 'z*.symbols' ! -name 'zlibhb*' | wc -l) ;;
      libanynpu) want=1 ;;
      *) want=0 ;;
    esac
    [ "$cores" = "$want" ] || fail "$(basename "$file") holds the core $cores times, want $want"
    sizes+=("$name $(du -sk "$dir/$set/$name" | cut -f 1) KB")
  done
  find "$all" -type l | while IFS= read -r link; do
    case $(readlink "$link") in /*) false ;; *) [ -e "$link" ] ;; esac ||
      fail "$set: ${link#"$all"} leads to $(readlink "$link")"
  done
  [ -L "$(find "$all" -name libanynpu.so)" ] || fail "$set: there is no link libanynpu.so for the linker"
  told "$set: $(IFS=,; echo "${sizes[*]}")"
done

deb=$dir/${arches[0]}.deb
go version -m "$deb/anynpu/usr/bin/anynpu" "$deb"/libanynpu/usr/lib/*/libanynpu.so.0 \
  "$deb"/libanynpu/usr/lib/*/anynpu/anynpu-devices |
  awk '$1 == "dep" {print $2 "@" $3}' | sort -u > "$dir/modules"
while read -r module; do
  for document in "$packages"/*.spdx.json; do
    grep -qF "pkg:golang/$module\"" "$document" || fail "$(basename "$document") lacks $module"
  done
done < "$dir/modules"
told "SPDX: $(wc -l < "$dir/modules") of $(wc -l < "$dir/modules") modules"

unshare --mount --pid --fork true 2> /dev/null || skip "no mount and process namespaces here"
failed=0
for arch in "${arches[@]}"; do
  for suite in stable oldstable; do
    scripts/check_packages_root.sh "$packages" "$suite" "$arch" > "$dir/root" 2>&1 || failed=1
    cat "$dir/root"
    grep -E ': (deb|rpm|anynpu exec.*|mobilenet.*):|deb packages|^SKIP|^check_packages_root' "$dir/root" \
      >> "$dir/summary" || true
  done
  scripts/check_wheel_root.sh "$packages" stable "$arch" > "$dir/root" 2>&1 || failed=1
  cat "$dir/root"
  grep -E '\.whl: |^SKIP|^check_wheel_root' "$dir/root" >> "$dir/summary" || true
done
case " ${arches[*]} " in *" $own "*)
  scripts/check_first.sh "$packages" > "$dir/root" 2>&1 || failed=1
  cat "$dir/root"
  grep -E 'result|^SKIP|^check_first' "$dir/root" >> "$dir/summary" || true ;;
esac
echo
echo "check_packages: ${arches[*]}: $([ $failed = 0 ] && echo passed || echo FAILED)"
sed 's/^/  /' "$dir/summary"
exit $failed
