#!/usr/bin/env bash
# usage: apt_repository.sh PACKAGES FOLDER [KEY]
# Makes FOLDER an apt repository of the deb packages in the folder PACKAGES: pool/main/a/anynpu has the packages,
# dists/stable what apt reads. KEY, as gpg names it, signs dists/stable/Release; its public part is
# anynpu-archive-keyring.gpg. Without KEY nothing is signed, and apt takes the repository only as trusted.
# SOURCE_DATE_EPOCH is the repository's date. But for the signatures, two runs give the same bytes.
set -euo pipefail
[ $# = 2 ] || [ $# = 3 ] || { echo "usage: apt_repository.sh PACKAGES FOLDER [KEY]" >&2; exit 2; }
packages=$1 out=$2 key=${3:-}
fail() { echo "apt_repository: $*" >&2; exit 1; }
debs=("$packages"/*.deb)
[ -f "${debs[0]}" ] || fail "$packages has no deb packages"
pool=pool/main/a/anynpu dist=dists/stable
rm -rf "${out:?}/pool" "${out:?}/dists"
mkdir -p "$out/$pool" "$out/$dist"
arches=()
for deb in "${debs[@]}"; do
  arch=$(dpkg-deb -f "$deb" Architecture)
  name=${deb##*/}
  cp "$deb" "$out/$pool/$name"
  mkdir -p "$out/$dist/main/binary-$arch"
  case " ${arches[*]} " in *" $arch "*) ;; *) arches+=("$arch") ;; esac
  {
    dpkg-deb -f "$deb"
    echo "Filename: $pool/$name"
    echo "Size: $(stat -c %s "$deb")"
    echo "SHA256: $(sha256sum < "$deb" | cut -d' ' -f1)"
    echo
  } >> "$out/$dist/main/binary-$arch/Packages"
done
for arch in "${arches[@]}"; do gzip -9nk "$out/$dist/main/binary-$arch/Packages"; done
cd "$out/$dist"
{
  echo "Origin: AnyNPU"
  echo "Label: AnyNPU"
  echo "Suite: stable"
  echo "Codename: stable"
  echo "Architectures: ${arches[*]}"
  echo "Components: main"
  echo "Date: $(date -u -d "@${SOURCE_DATE_EPOCH:-0}" -R)"
  echo "SHA256:"
  find main -type f | LC_ALL=C sort | while read -r file; do
    printf ' %s %s %s\n' "$(sha256sum < "$file" | cut -d' ' -f1)" "$(stat -c %s "$file")" "$file"
  done
} > Release
[ -n "$key" ] || exit 0
gpg --batch --yes --local-user "$key" --clearsign --output InRelease Release
gpg --batch --yes --local-user "$key" --armor --detach-sign --output Release.gpg Release
gpg --batch --yes --export "$key" > ../../anynpu-archive-keyring.gpg
