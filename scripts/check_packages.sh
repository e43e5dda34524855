#!/usr/bin/env bash
# usage: check_packages.sh
# The packages of two builds in two folders are byte-equal; lintian finds no error; the SPDX document names every module.
# In Debian's minimal root, with nothing but the packages, `anynpu exec` runs a program that was linked with a stand-in for
# a vendor's library; the stand-in stays as it is through installation, upgrade and removal, and a purge leaves nothing.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
skip() { echo "SKIP: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "only root can make another root"
command -v apt-get > /dev/null || skip "this machine has no apt, which names the archive"
scripts/need.sh debootstrap:debootstrap,debian-archive-keyring lintian:lintian || skip "no debootstrap or lintian"
arch=$(dpkg --print-architecture)
dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT
fail() { echo "check_packages: $*"; exit 1; }

# Two copies of the tree as it is now, so that what changes while this runs is in neither.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2> /dev/null || echo 0)
export SOURCE_DATE_EPOCH
mkdir "$dir/one" "$dir/another folder"
tar -c --exclude="./$(realpath --relative-to=. "$build")" --exclude=./build --exclude=./.git . | tar -x -C "$dir/one"
cp -a "$dir/one/." "$dir/another folder/"
make_packages() { # FOLDER
  (cd "$1" && unset BUILD && make --no-print-directory packages ARCHES="$arch" > "$dir/log" 2>&1) ||
    { tail "$dir/log"; fail "make packages in $1"; }
}
make_packages "$dir/one"
(umask 077 && TZ=Asia/Kathmandu LC_ALL=C make_packages "$dir/another folder")
packages=$dir/one/build/packages
for file in "$packages"/*; do
  cmp "$file" "$dir/another folder/build/packages/$(basename "$file")" || fail "$(basename "$file") is not reproducible"
done
echo "reproducible: $(find "$packages" -type f | wc -l) files of two builds are byte-equal"

(cd "$packages" && sha256sum --quiet -c SHA256SUMS)
lintian --fail-on error --allow-root "$packages"/*.deb || fail "lintian"
echo "lintian: no errors"

mkdir "$dir/lib" "$dir/tool"
dpkg-deb -x "$packages"/libanynpu_*.deb "$dir/lib"
dpkg-deb -x "$packages"/anynpu_*.deb "$dir/tool"
go version -m "$dir/tool/usr/bin/anynpu" "$dir"/lib/usr/lib/*/libanynpu.so.0 | awk '$1 == "dep" {print $2 "@" $3}' |
  sort -u > "$dir/modules"
while read -r module; do
  for document in "$packages"/*.spdx.json; do
    grep -qF "pkg:golang/$module\"" "$document" || fail "$(basename "$document") lacks $module"
  done
done < "$dir/modules"
echo "SPDX: $(wc -l < "$dir/modules") of $(wc -l < "$dir/modules") modules"

# A minimal root with a board's stand-in library and a program that was linked with it.
unshare --mount --pid --fork true 2> /dev/null || skip "no mount and process namespaces here"
archive=$(apt-get indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')
[ -n "$archive" ] || skip "apt's configuration names no Debian archive"
root=$dir/root
mkdir -p "$root" "$build/fresh/packages"
debootstrap --variant=minbase --cache-dir="$build/fresh/packages" stable "$root" "$archive" > "$dir/log" 2>&1 ||
  { tail "$dir/log"; fail "debootstrap"; }
in_root() { # COMMAND: in the root, with its own processes
  unshare --mount --pid --fork --kill-child bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "$1"' "$root" "$1" \
    > "$dir/out" 2>&1 < /dev/null
}
sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibrknnrt.symbols > "$dir/vendor.c"
gcc -shared -fPIC -o "$root/usr/lib/librknnrt.so" "$dir/vendor.c" -Wl,-soname,librknnrt.so
gcc -Iinclude examples/rknn_digits.c -o "$root/opt/rknn_digits" -L"$root/usr/lib" -lrknnrt -lm
cp -r examples/digits "$root/opt/"
files() { # what is in the root, without what dpkg and ldconfig keep for themselves
  find "$root" -xdev \( -path "$root/var/lib/dpkg" -o -path "$root/var/log" -o -path "$root/var/cache" \
    -o -path "$root/etc/ld.so.cache" -o -path "$root/proc" \) -prune -o -printf '%P %y %l\n' | LC_ALL=C sort
}
files > "$dir/before"
vendor=$(sha256sum < "$root/usr/lib/librknnrt.so")
theirs() { [ "$(sha256sum < "$root/usr/lib/librknnrt.so")" = "$vendor" ] || fail "$1: the vendor's library is not as it was"; }
digits() { # WHEN
  in_root 'cd /opt && anynpu exec -- ./rknn_digits digits/digits.onnx digits/images/*.pgm' || { cat "$dir/out"; fail "$1: rknn_digits"; }
  grep -F '59 of 60 right' "$dir/out" || { cat "$dir/out"; fail "$1: rknn_digits"; }
}
! in_root 'cd /opt && ./rknn_digits digits/digits.onnx digits/images/*.pgm' || fail "the stand-in computes"
mkdir "$root/opt/debs"
cp "$packages"/*.deb "$root/opt/debs/"
in_root 'dpkg -i /opt/debs/*.deb' || { tail "$dir/out"; fail "dpkg -i"; }
theirs install
digits install
rm "$root"/opt/debs/*
for deb in "$packages"/*.deb; do # the same, as the next version
  rm -rf "$dir/next"
  dpkg-deb -R "$deb" "$dir/next"
  sed -i 's/^Version: .*/Version: 99/; s/(= [^)]*)/(= 99)/' "$dir/next/DEBIAN/control"
  dpkg-deb -b "$dir/next" "$root/opt/debs/" > /dev/null
done
in_root 'dpkg -i /opt/debs/*.deb' || { tail "$dir/out"; fail "an upgrade"; }
theirs upgrade
digits upgrade
in_root 'dpkg --purge anynpu libanynpu-dev libanynpu' || { tail "$dir/out"; fail "dpkg --purge"; }
theirs removal
rm -r "$root/opt/debs"
files > "$dir/after"
diff "$dir/before" "$dir/after" || fail "a purge leaves something"
name=$(. "$root/etc/os-release" && echo "$PRETTY_NAME")
echo "packages: installed, upgraded and purged in $name; the vendor's library is byte-equal"
