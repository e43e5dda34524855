#!/usr/bin/env bash
# usage: check_wheel_root.sh PACKAGES [SUITE [ARCH]]
# The Python wheel for glibc of the folder PACKAGES, in a minimal root of Debian's SUITE (default: stable) for ARCH
# (default: arm64) that has Python and NumPy: pip installs it in a virtual environment, python/tests/test_session.py
# runs there, whose first test compares a session's bytes with those of `anynpu run`, and the tool gives a program the
# wheel's libraries. An emulator runs a root for another machine; without it, or without the root, the check is skipped.
# FRESH names a root that make_root.sh has made already; a copy is used.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
[ $# -ge 1 ] && [ $# -le 3 ] || { echo "usage: check_wheel_root.sh PACKAGES [SUITE [ARCH]]" >&2; exit 2; }
packages=$(realpath "$1") suite=${2:-stable} arch=${3:-arm64}
case $arch in
  amd64) cc=gcc machine=x86_64 ;;
  arm64) cc=aarch64-linux-gnu-gcc machine=aarch64 ;;
  *) echo "check_wheel_root: $arch: want amd64 or arm64"; exit 2 ;;
esac
[ "$(uname -m)" != $machine ] || cc=gcc
skip() { echo "SKIP: the wheel for $arch on $suite: $*"; exit 0; }
fail() { echo "check_wheel_root: $suite $arch: $*"; tail -n 30 "$dir/out"; exit 1; }
[ "$(id -u)" = 0 ] || skip "only root can make another root"
dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT
root=$dir/root begin=$SECONDS code=0
wheels=("$packages"/anynpu-*-py3-none-manylinux*_"$machine".whl)
[ -f "${wheels[0]}" ] || { echo "check_wheel_root: $packages has no wheel for $machine"; exit 1; }
command -v $cc > /dev/null || skip "no $cc"
[ "$(uname -m)" = $machine ] || scripts/need.sh '?qemu-aarch64-static:qemu-user-static'
scripts/need.sh debootstrap:debootstrap,debian-archive-keyring || skip "no debootstrap"

[ -z "${FRESH:-}" ] || cp -a "$FRESH" "$root"
scripts/make_root.sh "$root" "$suite" "$arch" > "$dir/out" 2>&1 || code=$?
case $code in
  0) ;;
  99) skip "$(tail -n 1 "$dir/out")" ;;
  *) fail "the minimal root" ;;
esac
# Emulated, the compilation of NumPy's modules takes longer than all the rest.
if [ "$(uname -m)" != $machine ]; then
  dpkg-divert --root "$root" --quiet --no-rename --divert /usr/bin/py3compile.debian --add /usr/bin/py3compile
  ln -s true "$root/usr/bin/py3compile"
fi
scripts/make_root.sh "$root" "$suite" "$arch" python3-venv python3-numpy > "$dir/out" 2>&1 || fail "Python and NumPy"
name="$(. "$root/etc/os-release" && echo "$PRETTY_NAME"), $arch"
echo "$name: root with Python and NumPy made in $((SECONDS - begin)) s"

# A program that was linked with a vendor's library.
sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibrknnrt.symbols > "$dir/vendor.c"
$cc -shared -fPIC -o "$dir/librknnrt.so" "$dir/vendor.c" -Wl,-soname,librknnrt.so
$cc -Iinclude examples/rknn_digits.c -o "$root/opt/rknn_digits" -L"$dir" -lrknnrt -lm
mkdir -p "$root/opt/examples"
cp -r examples/digits "$root/opt/examples/"
cp python/tests/test_session.py "${wheels[0]}" "$root/opt/"

must() { # STEP COMMAND
  scripts/in_root.sh "$root" "export PYTHONDONTWRITEBYTECODE=1; cd /opt && $2" "$arch" > "$dir/out" 2>&1 || fail "$1"
}
# NumPy is Debian's: what pip would fetch is another build of the same.
must "the virtual environment" 'python3 -m venv --system-site-packages venv'
must "pip" 'venv/bin/pip install --no-compile --no-index /opt/anynpu-*.whl'
must "the processor" 'venv/bin/python -c "import os; print(os.uname().machine)"'
grep -qx $machine "$dir/out" || fail "Python says that it runs on another processor than $machine"
must "the tests of sessions" 'venv/bin/python -m unittest -v test_session'
grep -qE '^test_equals_the_tool .*ok$' "$dir/out" || fail "no session was compared with anynpu run"
tests=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$dir/out")
must "the tool" 'venv/bin/anynpu --version'
must "a program" 'venv/bin/anynpu exec -- ./rknn_digits examples/digits/digits.onnx examples/digits/images/*.pgm'
grep -qF '59 of 60 right' "$dir/out" || fail "a program's results"
echo "$name: $(basename "${wheels[0]}"): installed by pip; $tests tests of sessions, one of which equals anynpu run to" \
  "the byte; a program is right; $((SECONDS - begin)) s"
