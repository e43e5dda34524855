#!/usr/bin/env bash
# usage: make_root.sh ROOT SUITE ARCH [PACKAGE...]
# Makes the folder ROOT a minimal Debian of SUITE for ARCH if it holds none, then installs packages in it. In a root for
# another machine only the packages' scripts are emulated (in_root.sh). This machine's dpkg and apt do the rest: those
# of the root, and debootstrap's second stage, would be emulated too. Exit code 99: this machine cannot make such a
# root.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
root=$1 suite=$2 arch=$3; shift 3
foreign=()
[ "$arch" = "$(dpkg --print-architecture)" ] || foreign=(--foreign)

if [ ! -e "$root/etc/debian_version" ]; then
  archive=$(apt-get indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')
  [ -n "$archive" ] || { echo "make_root: apt's configuration names no Debian archive"; exit 99; }
  mkdir -p "$root" "$build/fresh/packages-$arch"
  # In a mount namespace of its own, so that what it mounts ends with it.
  unshare --mount debootstrap "${foreign[@]}" --arch="$arch" --variant=minbase \
    --cache-dir="$build/fresh/packages-$arch" "$suite" "$root" "$archive"
  if [ -L "$root/proc" ]; then # which debootstrap links to /proc in a container of Docker's
    rm "$root/proc"
    mkdir "$root/proc"
  fi
  if [ ${#foreign[@]} -gt 0 ]; then
    scripts/in_root.sh "$root" true "$arch"
    # The second stage. To this dpkg, packages of ARCH are another machine's, and those of ARCH all its own: it reports
    # dependencies between the two as not met.
    scripts/in_root.sh --beside "$root" '
      set -e
      cd "$0/var/cache/apt/archives"
      dpkg="dpkg --root=$0 --force-unsafe-io --force-depends"
      $dpkg --add-architecture "$(cat "$0/debootstrap/arch")"
      ln -sf mawk "$0/usr/bin/awk"
      $dpkg --install base-passwd_*.deb base-files_*.deb
      rm "$0/usr/bin/awk"
      $dpkg --unpack ./*.deb
      $dpkg --configure --pending
      rm -r "$0/debootstrap" "$0/var/lib/dpkg/arch"' "$arch"
    scripts/in_root.sh "$root" 'test -z "$(dpkg --audit)" && apt-get check' "$arch" # by the root's own
  fi
  rm -f "$root"/var/cache/apt/archives/*.deb
fi
[ $# -gt 0 ] || exit 0

cp /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump | grep -E '^Acquire::(http|https|Check)' > "$root/etc/apt/apt.conf.d/90host" || true
if [ ${#foreign[@]} = 0 ]; then
  scripts/in_root.sh "$root" "apt-get update -qq && apt-get install -y -qq --no-install-recommends $*" "$arch"
  exit 0
fi
scripts/in_root.sh --beside "$root" "set -e; arch=$arch packages='$*'"'
  apt="apt-get -qq -o Dir=$0 -o Dir::State::status=$0/var/lib/dpkg/status"
  apt="$apt -o APT::Architecture=$arch -o APT::Architectures=$arch"
  apt="$apt -o Dpkg::Options::=--root=$0 -o Dpkg::Options::=--force-depends -o Dpkg::Options::=--force-unsafe-io"
  echo "$arch" > "$0/var/lib/dpkg/arch"
  $apt update
  $apt install -y --no-install-recommends $packages
  rm "$0/var/lib/dpkg/arch"' "$arch"
scripts/in_root.sh "$root" 'test -z "$(dpkg --audit)" && apt-get check' "$arch"
