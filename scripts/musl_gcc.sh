#!/usr/bin/env bash
# usage: musl_gcc.sh amd64|arm64
# Prints a C compiler for musl, or why there is none and exits 1. For another machine than this one the compiler for
# glibc is used with the headers and the libc of Debian's packages, which are unpacked into build/musl-ARCH/root; an
# emulator finds the loader there.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
arch=$1
missing() { echo "$*"; exit 1; }
[ "$(uname -m)" = x86_64 ] && own=amd64 || own=arm64
if [ "$arch" = "$own" ]; then
  command -v musl-gcc || missing "no musl-gcc (Debian: musl-tools)"
  exit 0
fi
[ "$arch" = arm64 ] || missing "no compiler for $arch"
command -v aarch64-linux-gnu-gcc > /dev/null || missing "no aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu)"
root=$build/musl-$arch/root compiler=$build/musl-$arch/musl-gcc
case $root in *[[:space:]]*) missing "the path $build has spaces" ;; esac
if [ ! -x "$compiler" ]; then
  specs=$(musl-gcc -v 2>&1 | sed -n 's/^Reading specs from //p' | tail -n 1) ||
    missing "no musl-gcc (Debian: musl-tools)"
  version=$(dpkg-query -W -f '${Version}' musl-dev 2> /dev/null) || missing "no musl-dev, which says the version"
  archive=$(apt-get indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')
  [ -n "$archive" ] || missing "apt's configuration names no Debian archive"
  rm -rf "$root"
  mkdir -p "$root"
  for name in musl musl-dev; do
    file=${name}_${version}_$arch.deb
    timeout 120 /usr/lib/apt/apt-helper download-file "$archive/pool/main/m/musl/$file" "$root/$file" > "$root/log" \
      2>&1 ||
      missing "no $file from the Debian archive: $(tail -n 1 "$root/log")"
    dpkg-deb -x "$root/$file" "$root"
  done
  # The package's link is absolute; where it leads nowhere the linker takes libc.a, in silence.
  ln -sf ../../../lib/ld-musl-aarch64.so.1 "$root/usr/lib/aarch64-linux-musl/libc.so"
  [ -e "$root/usr/lib/aarch64-linux-musl/libc.so" ] || missing "the packages of musl for $arch have no libc.so"
  sed -e "s|/usr/include/x86_64-linux-musl|$root/usr/include/aarch64-linux-musl|g" \
    -e "s|/usr/lib/x86_64-linux-musl|$root/usr/lib/aarch64-linux-musl|g; s|ld-musl-x86_64|ld-musl-aarch64|g" \
    "$specs" > "$root/musl-gcc.specs"
  # Atomics of libgcc ask glibc what the processor has.
  printf '#!/bin/sh\nexec aarch64-linux-gnu-gcc -mno-outline-atomics "$@" -specs "%s"\n' "$root/musl-gcc.specs" > \
    "$compiler"
  chmod +x "$compiler"
fi
echo "$compiler"
