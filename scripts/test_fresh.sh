#!/usr/bin/env bash
# usage: test_fresh.sh [SUITE [COMMAND...]]
# The README on a fresh machine: in the minimal root of a Debian SUITE (default: stable, then oldstable), with the
# packages that the README says to install and a copy of this machine's Go, COMMANDs (default: make demo, make test) are
# run by root in a checkout that another user owns. Prints the seconds of each, the packages that came with it, the size
# of Go's caches, and for each root "NAME: demo ok, test ok". The archive is the one of this machine's apt
# configuration.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
suites=(stable oldstable) commands=('make demo' 'make test')
if [ $# -gt 0 ]; then suites=("$1"); shift; fi
if [ $# -gt 0 ]; then commands=("$@"); fi
skip() { echo "SKIP: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "only root can make another root"
unshare --mount --pid --fork true 2> /dev/null || skip "no mount and process namespaces here"
command -v apt-get > /dev/null || skip "this machine has no apt, which names the archive"
scripts/need.sh debootstrap:debootstrap,debian-archive-keyring || skip "no debootstrap"
archive=$(apt-get indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' | awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')
[ -n "$archive" ] || skip "apt's configuration names no Debian archive"
packages=$(sed -n 's/^    apt-get install -y \([a-z0-9 -]*\).*/\1/p' README.md)
[ -n "$packages" ] || { echo "the README does not say what to install"; exit 1; }

# The parts of this machine's environment that lead to the network: proxies, certificates, where Go's modules are.
network=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [ -z "${!name:-}" ] || network+=("$name=${!name}")
done
for name in GOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOTOOLCHAIN; do network+=("$name=$(go env $name)"); done

fresh() { # SUITE
  local suite=$1 root=$build/fresh/$1 log=$build/fresh/$1.log begin=$SECONDS start result='' name command
  rm -rf --one-file-system "$root"
  mkdir -p "$root" "$build/fresh/packages"
  debootstrap --variant=minbase --cache-dir="$build/fresh/packages" "$suite" "$root" "$archive" > "$log" 2>&1 ||
    { tail -n 20 "$log"; return 1; }
  name=$(. "$root/etc/os-release" && echo "$PRETTY_NAME")
  echo "--- $name: minimal root made in $((SECONDS - begin)) s"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  apt-config dump | grep -E '^Acquire::(http|https|Check)' > "$root/etc/apt/apt.conf.d/90host" || true
  if [ -n "${SSL_CERT_FILE:-}" ]; then install -D -m 644 "$SSL_CERT_FILE" "$root/etc/ssl/host.crt"; fi
  cp -r "$(go env GOROOT)" "$root/usr/local/go"
  mkdir "$root/checkout"
  tar -c --exclude="./$(realpath --relative-to=. "$build")" --exclude=./build --exclude=./.git . |
    tar -x -C "$root/checkout"
  in_root() { # COMMAND
    unshare --mount --pid --fork --kill-child bash -c '
      mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" || exit 1
      exec chroot "$@"' "$root" "$root" env -i "${network[@]}" ${SSL_CERT_FILE:+SSL_CERT_FILE=/etc/ssl/host.crt} HOME=/root TERM=dumb LANG=C.UTF-8 \
      PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$1" >> "$log" 2>&1 < \
        /dev/null
  }
  installed() { chroot "$root" dpkg-query -W -f '${Package}\n' | LC_ALL=C sort; }
  installed > "$build/fresh/before"
  start=$SECONDS
  in_root "apt-get update -qq && apt-get install -y $packages" || { tail -n 20 "$log"; return 1; }
  installed > "$build/fresh/after"
  echo "$packages: $((SECONDS - start)) s, $(comm -13 "$build/fresh/before" "$build/fresh/after" | wc -l) packages"
  in_root "useradd -m owner && chown -R owner /checkout && cd /checkout && HOME=/home/owner setpriv --reuid owner --regid owner --clear-groups sh -c \
    'git init -q . && git add -A && git -c user.name=o -c user.email=o@localhost commit -qm checkout'" || { tail -n 20 "$log"; return 1; }
  ! in_root 'cd /checkout && git status' || { echo "git trusts the checkout of another user"; return 1; }
  for command in "${commands[@]}"; do
    installed > "$build/fresh/before"
    start=$SECONDS
    if in_root "cd /checkout && $command"; then result+="${result:+, }${command#make } ok"; else \
      result+="${result:+, }${command#make } FAILED"; fi
    installed > "$build/fresh/after"
    echo "$command: $((SECONDS - start)) s, installed: $(comm -13 "$build/fresh/before" "$build/fresh/after" | xargs)"
    case $result in *FAILED) grep -nE 'FAIL|rror|missing' "$log" | tail -n 20; tail -n 40 "$log"; break ;; esac
  done
  echo "Go's caches: $(chroot "$root" sh -c 'du -shc ~root/.cache ~root/go' 2> /dev/null | tail -n 1 | cut -f 1)"
  echo "$name: $result"
  rm -rf --one-file-system "$root"
  case $result in *FAILED*) return 1 ;; esac
}

failed=0
for suite in "${suites[@]}"; do
  (fresh "$suite") || { echo "$suite: failed; $build/fresh/$suite.log"; failed=1; }
done
exit $failed
