#!/usr/bin/env bash
# usage: check_first.sh PACKAGES [SUITE]
# What a new user waits for. In a fresh minimal root of Debian's SUITE (default: stable) that has the deb packages of
# the folder PACKAGES and nothing else: the first right result of a ready program, which was linked with a vendor's
# library, and of an ONNX file. Seconds from the installation on, and the megabytes that were fetched for it, are
# printed; at most 120 and 60 are taken. The same holds for the wheel, in another such root, from the installation of
# Python on. Then each Dockerfile's RUN lines are run in a root: Debian's in one of SUITE, Alpine's in the one that the
# tar file ALPINE holds, where it is given. FRESH names a root that make_root.sh has made already.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: check_first.sh PACKAGES [SUITE]" >&2; exit 2; }
packages=$(realpath "$1") suite=${2:-stable}
skip() { echo "SKIP: $*"; exit 0; }
fail() { echo "check_first: $*"; [ ! -f "$dir/out" ] || tail -n 20 "$dir/out"; exit 1; }
[ "$(id -u)" = 0 ] || skip "only root can make another root"
arch=$(dpkg --print-architecture) dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT
clean=${FRESH:-$dir/clean}
if [ -z "${FRESH:-}" ]; then
  scripts/make_root.sh "$clean" "$suite" "$arch" > "$dir/out" 2>&1 ||
    { [ $? != 99 ] || skip "this machine makes no root of $suite"; fail "the minimal root"; }
fi

# A program as its vendor's user has it, and what it reads.
sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibrknnrt.symbols > "$dir/vendor.c"
mkdir "$dir/vendor"
gcc -shared -fPIC -o "$dir/vendor/librknnrt.so" "$dir/vendor.c" -Wl,-soname,librknnrt.so
gcc -Iinclude examples/rknn_digits.c -o "$dir/rknn_digits" -L"$dir/vendor" -lrknnrt -lm

fresh() { # NAME: a copy of the root with the program
  root=$dir/$1
  cp -a "$clean" "$root"
  cp "$dir/rknn_digits" "$root/opt/"
  cp -r examples/digits "$root/opt/"
}
results() { # WHERE [TOOL]: both results are right
  local tool=${2:-anynpu}
  scripts/in_root.sh "$root" "cd /opt && $tool"' exec -- ./rknn_digits digits/digits.onnx digits/images/*.pgm' "$arch" \
    > "$dir/out" 2>&1 || fail "$1: the program"
  grep -qF '59 of 60 right' "$dir/out" || fail "$1: the program's result"
  program=$(date +%s%N)
  scripts/in_root.sh "$root" "cd /opt && $tool"' run digits/digits.onnx -i image=digits/images/000_label4.pgm \
    -o results --top-k 1' "$arch" > "$dir/out" 2>&1 || fail "$1: the ONNX file"
  grep -qE '^ +4 +0\.99' "$dir/out" || fail "$1: the ONNX file's result"
  model=$(date +%s%N)
}
first() { # WHERE MEGABYTES: the line of what was measured since begin
  echo "$1: the program's first right result after $(seconds "$begin" "$program") s, the ONNX file's after" \
    "$(seconds "$begin" "$model") s, $2 MB fetched"
  awk -v s="$(seconds "$begin" "$model")" -v m="$2" 'BEGIN {exit !(s <= 120 && m <= 60)}' ||
    fail "$1: more than 120 s or 60 MB"
}
seconds() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.1f", (b - a) / 1e9}'; }

fresh user
mkdir "$root/opt/packages"
files=("$packages"/libanynpu_*_"$arch".deb "$packages"/anynpu_*_"$arch".deb)
size=$(stat -c %s "${files[@]}" | awk '{n += $1} END {printf "%.1f", n / 1e6}')
install=$(sed -n 's/^    \(apt install .*\)/\1/p' README.md)
[ -n "$install" ] || fail "README.md installs no packages"
begin=$(date +%s%N)
cp "${files[@]}" "$root/opt/packages/"
scripts/in_root.sh "$root" "cd /opt/packages && $install" "$arch" > "$dir/out" 2>&1 || fail "$install"
results packages
first "$(. "$root/etc/os-release" && echo "$PRETTY_NAME"), packages only" "$size"
rm -rf --one-file-system "$root"

# The wheel by the commands of docs/python.md, and its session.
fresh wheel
commands=$(sed -n '/On Debian, as root:$/,/^Without/ s/^    //p' docs/python.md)
[[ $commands == *apt-get*pip* ]] || fail "docs/python.md does not install the wheel on Debian"
wheels=("$packages"/anynpu-*-manylinux*_"$(uname -m)".whl)
mkdir -p "$root/opt/build/packages" "$root/opt/examples"
cp "${wheels[0]}" "$root/opt/build/packages/"
ln -s ../digits "$root/opt/examples/digits"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump | grep -E '^Acquire::(http|https|Check)' > "$root/etc/apt/apt.conf.d/90host" || true
begin=$(date +%s%N)
scripts/in_root.sh "$root" "set -e; cd /opt; $commands" "$arch" > "$dir/out" 2>&1 ||
  fail "the commands of docs/python.md"
size=$(awk -v own="$(stat -c %s "${wheels[0]}")" '
  /^Fetched / {gsub(",", ""); n += $2 * ($3 == "MB" ? 1e6 : $3 == "kB" ? 1e3 : 1)}
  /Downloading/ {print "pip fetches " $0 > "/dev/stderr"; exit 1}
  END {printf "%.1f", (n + own) / 1e6}' "$dir/out") || fail "pip fetches what Debian has"
results wheel venv/bin/anynpu
first "the wheel, Python and NumPy" "$size"
sed -n '/^```python/,/^```$/ {/^```/! p}' docs/python.md > "$root/opt/page.py"
scripts/in_root.sh "$root" 'cd /opt && venv/bin/python page.py' "$arch" > "$dir/out" 2>&1 ||
  fail "the session of docs/python.md"
grep -q '^\[\[' "$dir/out" || fail "the session of docs/python.md prints no probabilities"
rm -rf --one-file-system "$root"

steps() { # FILE: the commands of its RUN lines
  sed -n 's/^RUN --mount=type=bind,target=\/packages //p' "$1"
}
begin=$(date +%s%N)
fresh docker
mkdir "$root/packages"
cp "$packages"/*_"$arch".deb "$root/packages/"
run=$(steps scripts/packages/docker/debian.Dockerfile)
[ -n "$run" ] || fail "debian.Dockerfile has no step"
begin=$(date +%s%N)
scripts/in_root.sh "$root" "TARGETARCH=$arch; $run" "$arch" > "$dir/out" 2>&1 || fail "debian.Dockerfile"
results debian.Dockerfile
echo "debian.Dockerfile: its steps and both results in $(seconds "$begin" "$model") s"
rm -rf --one-file-system "$root"

run=$(steps scripts/packages/docker/alpine.Dockerfile)
[ -n "$run" ] || fail "alpine.Dockerfile has no step"
if [ -z "${ALPINE:-}" ]; then
  echo "SKIP: alpine.Dockerfile: ALPINE names no root file system of Alpine"
  exit 0
fi
root=$dir/alpine
mkdir "$root" "$root/packages"
tar -xf "$ALPINE" -C "$root"
cp "$packages"/*.apk "$root/packages/"
cp -r examples/digits "$root/opt/"
scripts/in_root.sh "$root" "$run && cd /opt && anynpu run digits/digits.onnx -i image=digits/images/000_label4.pgm \
  -o results --top-k 1" "$arch" > "$dir/out" 2>&1 || fail "alpine.Dockerfile"
grep -qE '^ +4 +0\.99' "$dir/out" || fail "alpine.Dockerfile: the ONNX file's result"
echo "alpine.Dockerfile: its steps and the ONNX file's result"
