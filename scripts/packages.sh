#!/usr/bin/env bash
# usage: packages.sh VERSION ARCH...
# Makes build/packages: for each ARCH (amd64, arm64) the packages libanynpu, libanynpu-single, libanynpu-dev and anynpu,
# deb and rpm for glibc, apk for musl, and anynpu-conformance for glibc; for each libc a tarball, one of the single
# libraries, their SPDX document, and the Python wheel; SHA256SUMS. Without a compiler for musl its part is left out.
# Two builds of a commit are byte-equal, wherever they are made. SOURCE_DATE_EPOCH, seconds since 1970, is the time of
# every file; without it, it is the commit's, or 0 in a tree without git. NO_SINGLES=1 leaves the single libraries out,
# which take most of the time, NO_MUSL=1 what is for musl.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
build=${BUILD:-build} # relative, as make has it: the checkout's path may have spaces
names=(libanynpu libanynpu-single libanynpu-dev anynpu)
singles=()
for list in capi/stub/z*.symbols; do
  list=${list##*/z}
  [[ $list != libhb* ]] || continue # loaded along with another library
  singles+=("${list%.symbols}")
done
if [ -n "${NO_SINGLES:-}" ]; then
  names=(libanynpu libanynpu-dev anynpu) singles=()
fi
version=$1; shift
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4
out=$build/packages
work=$build/packages.work
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}
umask 022
rm -rf "$out" "$work"
mkdir -p "$out" "$work"
go=${GO:-go}
GOOS='' GOARCH='' GOBIN=$(realpath "$work") $go install "$nfpm"

# copyright APACHE: the licences of what is linked into the library and the tool: of the modules, and of Go. Those under
# the Apache License 2.0 say where its text is, which is APACHE.
copyright() {
  local path number folder file
  echo "AnyNPU is under the Apache License 2.0, $1. It is built from these parts:"
  printf '\n=== The Go release (its runtime and standard library)\n\n'
  cat "$($go env GOROOT)/LICENSE"
  $go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./capi ./cmd/anynpu \
    ./conformance/cmd/conformance |
    LC_ALL=C sort -u |
    while read -r path number folder; do
      printf '\n=== %s %s\n\n' "$path" "$number"
      find "$folder" -maxdepth 1 \( -iname 'LICENSE*' -o -iname 'COPYING*' -o -iname 'NOTICE*' \) | LC_ALL=C sort | while read -r file; do
        if grep -q 'Apache License' "$file" && grep -q 'TERMS AND CONDITIONS' "$file"; then
          echo "Apache License 2.0, $1."
        else
          cat "$file"
        fi
      done
    done
}
copyright 'in /usr/share/common-licenses/Apache-2.0' > "$work/copyright.deb"
{ copyright 'whose text ends this file'; printf '\n=== Apache License 2.0\n\n'; cat LICENSE; } > "$work/copyright"
cp "$work/copyright" "$work/copyright.rpm"
date=$(date -u -d "@$SOURCE_DATE_EPOCH" -R)
printf 'anynpu (%s) stable; urgency=medium\n\n  * See the history of the project.\n\n -- AnyNPU maintainers <maintainers@anynpu.invalid>  %s\n' "$version" "$date" |
  gzip -9n > "$work/changelog.gz"

# The manual pages and completions are the same everywhere, so the tool of this machine writes them.
make --no-print-directory "$build/bin/anynpu"
mkdir -p "$work/man" "$work/completions"
"$build/bin/anynpu" man "$work/man"
rm -f "$work"/man/*completion* # a page per shell on what the packages install
gzip -9n "$work"/man/*.1
for shell in bash zsh fish; do "$build/bin/anynpu" completion $shell > "$work/completions/$shell"; done

# tree ARCH LIBDIR FOLDER: what is installed below /usr
tree() {
  local root=$3/usr
  scripts/install.sh "$root" "$version" "$2" include "${singles[@]}"
  rm -rf "$root/share/anynpu/manifest" # the package manager has its own list
  install -D -m 644 -t "$root/share/man/man1" "$work"/man/*.1.gz
  install -D -m 644 "$work/completions/bash" "$root/share/bash-completion/completions/anynpu"
  install -D -m 644 "$work/completions/zsh" "$root/share/zsh/vendor-completions/_anynpu"
  install -D -m 644 "$work/completions/fish" "$root/share/fish/vendor_completions.d/anynpu.fish"
  find "$root" -type f \( -name '*.so*' -o -path '*/bin/*' -o -name anynpu-probe -o -name anynpu-devices -o -name anynpu-remote \) -exec "$strip" --strip-unneeded {} +
  find "$root" -type f -name '*.so*' -exec chmod 644 {} +
}
same_time() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

# package FORMAT ARCH NAME ROOT LIBDIR: one package of the tree in ROOT, by its file in scripts/packages/nfpm
package() {
  local format=$1 arch=$2 name=$3 root=$4 libdir=$5 config
  config=$work/$name-$arch-$format.yaml
  sed -e "s|@ARCH@|$arch|g; s|@VERSION@|$version|g; s|@ROOT@|$root|g; s|@LIBDIR@|$libdir|g" \
    -e "s|@DATE@|$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)|g" "scripts/packages/nfpm/$name.yaml.in" > "$config"
  if [ "$format" = apk ]; then # has one line for a description
    sed -i '/^description: |/,/^arch:/ {/^description: |/ {n; b}; /^arch:/ b; d}' "$config"
  fi
  "$work/nfpm" package --config "$config" --packager "$format" --target "$out/" > /dev/null
}

# packages ARCH FORMAT LIBDIR: the packages of one format, of what BUILD holds, in FORMAT's tree below that
packages() {
  local arch=$1 format=$2 libdir=$3 name tree=$BUILD/$2
  tree "$arch" "$libdir" "$tree"
  local names=("${names[@]}")
  if [ "$format" != apk ]; then # what loads a library without C finds glibc alone
    names+=(anynpu-conformance)
    install -D -m 755 "$BUILD/bin/anynpu-conformance" "$tree/usr/bin/anynpu-conformance"
  fi
  for name in "${names[@]}"; do
    install -D -m 644 "$work/copyright.$([ "$format" = deb ] && echo deb || echo rpm)" \
      "$tree/usr/share/doc/$name/copyright"
    install -m 644 "$work/changelog.gz" "$tree/usr/share/doc/$name/changelog.gz"
    if [ -f "scripts/packages/nfpm/$name.overrides" ]; then
      install -D -m 644 "scripts/packages/nfpm/$name.overrides" "$tree/usr/share/lintian/overrides/$name"
    fi
  done
  same_time "$tree"
  for name in "${names[@]}"; do package "$format" "$arch" $name "$tree/usr" "$libdir"; done
}

# tarball ARCH LIBC: one folder for any prefix, the single libraries as another, and their SPDX document
tarball() {
  local name=anynpu-$version-linux-$1-$2 tree=$BUILD/tar single
  tree "$1" lib "$tree"
  mv "$tree/usr" "$tree/anynpu-$version"
  install -m 644 "$work/copyright" "$tree/anynpu-$version/share/anynpu/copyright"
  single=anynpu-single-$version
  install -D -m 644 "$work/copyright" "$tree/$single/copyright"
  if [ ${#singles[@]} -gt 0 ]; then
    mv "$tree/anynpu-$version/lib/anynpu/single"/* "$tree/$single/"
    rmdir "$tree/anynpu-$version/lib/anynpu/single"
  fi
  same_time "$tree"
  pack() { tar -C "$tree" --sort=name --owner=0 --group=0 --numeric-owner -c "$1" | gzip -9n > "$out/$2.tar.gz"; }
  pack "anynpu-$version" "$name"
  [ ${#singles[@]} = 0 ] || pack "$single" "anynpu-single-$version-linux-$1-$2"
  $go run ./scripts/packages/sbom "$version" "$tree/anynpu-$version/bin/anynpu" \
    "$tree/anynpu-$version/lib/libanynpu.so.0" "$tree/anynpu-$version/lib/anynpu/anynpu-devices" \
    $(find "$BUILD/bin" -name anynpu-conformance) \
    > "$out/$name.spdx.json"
  $go run ./scripts/packages/wheel "$version" "$tree/anynpu-$version" "$out" > /dev/null
}

scripts/need.sh '?musl-gcc:musl-tools' || true
for arch in "$@"; do
  case $arch in
    amd64) cc=gcc strip=strip triplet=x86_64-linux-gnu ;;
    arm64) cc=aarch64-linux-gnu-gcc strip=aarch64-linux-gnu-strip triplet=aarch64-linux-gnu ;;
    *) echo "packages.sh: $arch: want amd64 or arm64"; exit 2 ;;
  esac
  if [ "$(uname -m)" = aarch64 ] && [ "$arch" = arm64 ]; then cc=gcc strip=strip; fi
  export BUILD=$work/$arch
  echo "--- packages of $arch for glibc"
  GOARCH=$arch CC=$cc make --no-print-directory libs ${singles:+singles} "$BUILD/bin/anynpu" \
    "$BUILD/lib/anynpu-devices" "$BUILD/bin/anynpu-conformance"
  packages "$arch" deb "lib/$triplet"
  packages "$arch" rpm lib64
  tarball "$arch" glibc

  [ -z "${NO_MUSL:-}" ] || continue
  musl=$(BUILD=$build scripts/musl_gcc.sh "$arch") || { echo "SKIP: packages for musl on $arch: $musl"; continue; }
  export BUILD=$work/$arch-musl
  echo "--- packages of $arch for musl"
  GOARCH=$arch CC=$musl make --no-print-directory libs ${singles:+singles} "$BUILD/bin/anynpu" "$BUILD/lib/anynpu-devices"
  packages "$arch" apk lib
  tarball "$arch" musl
done
(cd "$out" && LC_ALL=C sha256sum -- * > SHA256SUMS)
rm -rf "$work"
ls -l "$out"
