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

make --no-print-directory packages ARCHES="$arch" > "$dir/log" 2>&1 || { tail "$dir/log"; fail "make packages"; }
packages=$build/packages
mkdir "$dir/another folder"
tar -c --exclude="./$(realpath --relative-to=. "$build")" --exclude=./build . | tar -x -C "$dir/another folder"
(cd "$dir/another folder" && unset BUILD && make --no-print-directory packages ARCHES="$arch" > "$dir/log" 2>&1) || { tail "$dir/log"; fail "make packages elsewhere"; }
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
go version -m "$dir/tool/usr/bin/anynpu" "$dir"/lib/usr/lib/*/libanynpu.so.0 | awk '$1 == "dep" {print $2 "@" $3}' | sort -u > "$dir/modules"
while read -r module; do
  grep -qF "pkg:golang/$module\"" "$packages"/*.spdx.json || fail "the SPDX document lacks $module"
done < "$dir/modules"
echo "SPDX: $(wc -l < "$dir/modules") of $(wc -l < "$dir/modules") modules"

# A minimal root with a board's stand-in library and a program that was linked with it.
archive=$(apt-get indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' | awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')
[ -n "$archive" ] || skip "apt's configuration names no Debian archive"
root=$dir/root
mkdir -p "$root" "$build/fresh/packages"
debootstrap --variant=minbase --cache-dir="$build/fresh/packages" stable "$root" "$archive" > "$dir/log" 2>&1 || { tail "$dir/log"; fail "debootstrap"; }
{ sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibrknnrt.symbols; } > "$dir/vendor.c"
gcc -shared -fPIC -o "$root/usr/lib/librknnrt.so" "$dir/vendor.c" -Wl,-soname,librknnrt.so
gcc -Iinclude examples/rknn_digits.c -o "$root/opt/rknn_digits" -L"$root/usr/lib" -lrknnrt -lm
cp -r examples/digits "$root/opt/"
files() { find "$root" -xdev \( -path "$root/var/lib/dpkg" -o -path "$root/var/log" -o -path "$root/var/cache" \
  -o -path "$root/etc/ld.so.cache" \) -prune -o -printf '%P %y %l\n' | LC_ALL=C sort; }
files > "$dir/before"
vendor=$(sha256sum < "$root/usr/lib/librknnrt.so")
theirs() { [ "$(sha256sum < "$root/usr/lib/librknnrt.so")" = "$vendor" ] || fail "$1: the vendor's library is not as it was"; }
digits() {
  chroot "$root" sh -c 'cd /opt && anynpu exec -- ./rknn_digits digits/digits.onnx digits/images/*.pgm' > "$dir/out" 2>&1 || { cat "$dir/out"; fail "$1"; }
  grep -F '59 of 60 right' "$dir/out" || { cat "$dir/out"; fail "$1"; }
}
mkdir "$root/opt/debs"
cp "$packages"/*.deb "$root/opt/debs/"
chroot "$root" sh -c 'dpkg -i /opt/debs/*.deb' > "$dir/log" 2>&1 || { tail "$dir/log"; fail "dpkg -i"; }
theirs install
digits install
rm "$root"/opt/debs/*
for deb in "$packages"/*.deb; do # the same, as the next version
  rm -rf "$dir/next"
  dpkg-deb -R "$deb" "$dir/next"
  sed -i 's/^Version: .*/Version: 99/; s/(= [^)]*)/(= 99)/' "$dir/next/DEBIAN/control"
  dpkg-deb -b "$dir/next" "$root/opt/debs/" > /dev/null
done
chroot "$root" sh -c 'dpkg -i /opt/debs/*.deb' > "$dir/log" 2>&1 || { tail "$dir/log"; fail "an upgrade"; }
theirs upgrade
digits upgrade
chroot "$root" dpkg --purge anynpu libanynpu-dev libanynpu > "$dir/log" 2>&1 || { tail "$dir/log"; fail "dpkg --purge"; }
theirs removal
rm -r "$root/opt/debs"
files > "$dir/after"
diff "$dir/before" "$dir/after" || fail "a purge leaves something"
echo "packages: installed, upgraded and purged in $(. "$root/etc/os-release" && echo "$PRETTY_NAME"); the vendor's library is byte-equal"
