#!/usr/bin/env bash
# usage: in_root.sh [--beside] ROOT COMMAND [ARCH]
# Runs COMMAND by sh in the folder ROOT as another system, with processes of its own, and ends with its exit code. If
# the root's ARCH is arm64 and this machine's is not, an emulator runs its programs: the kernel is told so in a user
# namespace that ends with the command, so that nothing changes for others. --beside: COMMAND is run by this machine's
# sh, with ROOT as $0, and only what it starts in the root is the root's, such as the packages' scripts of dpkg --root.
# Exit code 99: there are no such namespaces here, or no emulator.
set -euo pipefail
change='chroot "$0"'
if [ "$1" = --beside ]; then change=''; shift; fi
root=$1 command=$2 arch=${3:-}
# The root is mounted on itself: rpm runs scripts of packages only where / is a mount point.
inside='
  mount --bind "$0" "$0" && cd / && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" || exit 99
  exec '$change' /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} /bin/sh -c "$1" "$0"'
if [ "$arch" != arm64 ] || [ "$(uname -m)" = aarch64 ]; then
  exec unshare --mount --pid --fork --kill-child bash -c "$inside" "$root" "$command" < /dev/null
fi

emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) ||
  { echo "in_root: no qemu-aarch64-static"; exit 99; }
# 64-bit ELF files for AArch64, programs and shared objects; F: the emulator need not be in the root.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
export FORMAT=":arm64:M::$magic:$mask:$emulator:F"
wait=$(mktemp -d)
trap 'rm -rf "$wait"' EXIT
mkfifo "$wait/made" "$wait/mapped"
inside='
  echo > "$2/made" && read -r _ < "$2/mapped" || exit 99
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc && printf %s "$FORMAT" > /proc/sys/fs/binfmt_misc/register || exit 99'$inside
unshare --user --mount --pid --fork --kill-child bash -c "$inside" "$root" "$command" "$wait" < /dev/null &
child=$!
# Users keep their numbers. An end that opens a pipe alone would wait for ever.
(exec 3<> "$wait/made" && read -r -t 30 _ <&3) || { wait "$child" || true; exit 99; }
echo '0 0 65536' > "/proc/$child/uid_map"
echo '0 0 65536' > "/proc/$child/gid_map"
echo > "$wait/mapped"
code=0
wait "$child" || code=$?
exit $code
