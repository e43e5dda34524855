#!/usr/bin/env bash
# usage: nnapi_torch.sh
# PyTorch's NNAPI backend on this project's library: MobileNetV2, float and 8 bits (nnapi_torch.py). Debian's
# python3-torch is installed in a root of its own, build/torch, which later runs use again. Says SKIP and why where that
# cannot be had.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
skip() { echo "SKIP: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "only root can make another root"
unshare --mount --pid --fork true 2> /dev/null || skip "no mount and process namespaces here"
command -v apt-get > /dev/null || skip "this machine has no apt, which names the archive"
root=$build/torch/root log=$build/torch/log
if [ ! -e "$root/ready" ]; then
  scripts/need.sh debootstrap:debootstrap,debian-archive-keyring || skip "no debootstrap"
  archive=$(apt-get indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' | awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')
  [ -n "$archive" ] || skip "apt's configuration names no Debian archive"
  rm -rf --one-file-system "$root"
  mkdir -p "$root" "$build/torch/packages"
  debootstrap --variant=minbase --cache-dir="$(realpath "$build/torch/packages")" bookworm "$root" "$archive" > "$log" \
    2>&1 ||
    skip "debootstrap makes no root: $(tail -n 1 "$log")"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  apt-config dump | grep -E '^Acquire::(http|https|Check)' > "$root/etc/apt/apt.conf.d/90host" || true
  if [ -n "${SSL_CERT_FILE:-}" ]; then install -D -m 644 "$SSL_CERT_FILE" "$root/etc/ssl/host.crt"; fi
  scripts/in_root.sh "$root" 'apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-torch python3-numpy' >> "$log" 2>&1 ||
    skip "no python3-torch: $(tail -n 1 "$log")"
  touch "$root/ready"
fi
rm -rf "$root/opt/anynpu"
mkdir -p "$root/opt/anynpu"
cp -P "$build"/lib/lib*.so* scripts/nnapi_torch.py "$root/opt/anynpu/"
scripts/in_root.sh "$root" 'LD_LIBRARY_PATH=/opt/anynpu ANYNPU_LOG=warn python3 /opt/anynpu/nnapi_torch.py'
