#!/usr/bin/env bash
# usage: check_packages_root.sh PACKAGES SUITE ARCH [FORMAT...]
# The packages of the folder PACKAGES for ARCH in a fresh minimal root of Debian's SUITE, beside a stand-in for a
# vendor's library. With nothing else installed, `anynpu exec` runs a program that was linked with the stand-in, and so
# does a single library. By README's commands ohnn_digits is right there, and MobileNetV2 has the results of this
# machine: of codes the same bits, of float32 within 1e-4 of the largest. Then, for each FORMAT (deb, rpm), with a
# compiler: a C program is built by every pkg-config file and by every CMake target, and runs; the tool runs and has its
# manual page. The stand-in stays as it is through installation, upgrade and removal, and a purge leaves nothing. A
# machine that cannot run programs of ARCH, itself or by an emulator, says so and skips the root.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
packages=$1 suite=$2 arch=$3; shift 3
[ $# -gt 0 ] || set -- deb rpm
case $arch in
  amd64) cc=gcc triplet=x86_64-linux-gnu machine=x86_64 ;;
  arm64) cc=aarch64-linux-gnu-gcc triplet=aarch64-linux-gnu machine=aarch64 ;;
  *) echo "check_packages_root: $arch: want amd64 or arm64"; exit 2 ;;
esac
[ "$(uname -m)" != $machine ] || cc=gcc
dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT
root=$dir/root name="$suite $arch" begin=$SECONDS
fail() { echo "check_packages_root: $name: $*"; exit 1; }
in_root() { scripts/in_root.sh "$root" "$1" "$arch" > "$dir/out" 2>&1; }
must() { in_root "$2" || { tail -n 30 "$dir/out"; fail "$1"; }; } # WHAT COMMAND

make --no-print-directory "${BUILD:-build}/bin/anynpu" > "$dir/out" 2>&1 ||
  { tail -n 30 "$dir/out"; fail "this machine's tool"; }
code=0
scripts/make_root.sh "$root" "$suite" "$arch" > "$dir/out" 2>&1 || code=$?
case $code in
  0) ;;
  99) tail -n 1 "$dir/out"; echo "SKIP: $suite $arch: this machine makes no such root"; exit 0 ;;
  *) tail -n 30 "$dir/out"; fail "the minimal root" ;;
esac
name="$(. "$root/etc/os-release" && echo "$PRETTY_NAME"), $arch"
echo "$name: minimal root made in $((SECONDS - begin)) s"

# A board's library and a program that was linked with it.
sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibrknnrt.symbols > "$dir/vendor.c"
$cc -shared -fPIC -o "$root/usr/lib/librknnrt.so" "$dir/vendor.c" -Wl,-soname,librknnrt.so
$cc -Iinclude examples/rknn_digits.c -o "$root/opt/rknn_digits" -L"$root/usr/lib" -lrknnrt -lm
cp -r examples/digits ctest/projects "$root/opt/"
# A program of a system whose library is not in the root.
sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibneural_network_core.symbols > "$dir/ohnn.c"
$cc -shared -fPIC -o "$dir/libneural_network_core.so" "$dir/ohnn.c" -Wl,-soname,libneural_network_core.so
$cc -Iinclude examples/ohnn_digits.c -o "$root/opt/ohnn_digits" -L"$dir" -lneural_network_core
files() { # what is in the root, without what package managers and ldconfig keep for themselves
  find "$root" -xdev \( -path "$root/var/lib/dpkg" -o -path "$root/var/log" -o -path "$root/var/cache" -o -path \
    "$root/var/lib/rpm" -o -path "$root/var/lib/apt" \
    -o -path "$root/etc/ld.so.cache" -o -path "$root/proc" -o -path "$root/dev" -o -path "$root/opt" -o -path \
      "$root/tmp" \) -prune -o \
    -printf '%P %y %l\n' | LC_ALL=C sort
}
vendor=$(sha256sum < "$root/usr/lib/librknnrt.so")
theirs() { [ "$(sha256sum < "$root/usr/lib/librknnrt.so")" = "$vendor" ] || fail "$1: the vendor's library is not as it was"; }
readme() { # START: README's command that begins so
  command=$(sed -n "s/^    \($1 .*\)/\1/p" README.md)
  [ "$(wc -l <<< "$command")" = 1 ] && [ -n "$command" ] || fail "README.md has not one command $1"
}
network() { # NAME RELATIVE: its output in the root is this machine's, within RELATIVE of the largest number
  local at=$root/opt/networks output largest
  mkdir -p "$at"
  go run ./conformance/cmd/conformance generate network "$1" "$at" || fail "$1 is not generated"
  "${BUILD:-build}/bin/anynpu" run "$at/$1.onnx" --random --seed 7 -o "$at" > "$dir/here" || fail "$1 on this machine"
  output=$(sed -n 's/  float32.* -> .*//p' "$dir/here")
  largest=$(sed -n 's/.* min \(-*\)\([^ ]*\)  max \([^ ]*\) .*/\2 \3/p' "$dir/here" | awk '{print ($1 > $2 ? $1 : $2)}')
  must "$1" "cd /opt/networks && anynpu run $1.onnx --random --seed 7 --expect $output=$output.npy --rtol 0 \
    --atol $(awk -v r="$2" -v l="$largest" 'BEGIN {print r * l}')"
  grep -q 'as expected' "$dir/out" || { cat "$dir/out"; fail "$1: nothing was compared"; }
  echo "$name: $1: $(sed -n 's/^ *\(largest difference [^,]*\),.*/\1/p' "$dir/out") of $largest from this machine's," \
    "$(sed -n 's/.*fastest \([^,]*\),.*/\1/p' "$dir/out")"
}
digits() { # WHEN [COMMAND]
  must "$1: rknn_digits" "cd /opt && ${2-anynpu exec --} ./rknn_digits digits/digits.onnx digits/images/*.pgm"
  grep -qF '59 of 60 right' "$dir/out" || { cat "$dir/out"; fail "$1: rknn_digits"; }
}
nothing_left() {
  theirs "$1"
  files > "$dir/after"
  diff "$dir/before" "$dir/after" || fail "$1 leaves something"
}
! in_root 'cd /opt && ./rknn_digits digits/digits.onnx digits/images/*.pgm' || fail "the stand-in computes"

# The packages alone.
names='anynpu anynpu-conformance libanynpu libanynpu-dev libanynpu-single'
mkdir "$root/opt/packages"
cp "$packages"/*_"$arch".deb "$packages"/*."$machine".rpm "$root/opt/packages/"
files > "$dir/before"
must "dpkg -i libanynpu-single" 'dpkg -i /opt/packages/libanynpu-single_*.deb'
digits "a single library" "LD_LIBRARY_PATH=/usr/lib/$triplet/anynpu/single"
readme 'apt install'
must "$command" "cd /opt/packages && $command"
theirs "$command"
readme 'anynpu exec'
must "$command" "cd /opt && ${command/program/ohnn_digits} digits/digits.weights digits/images/*.pgm"
grep -F '59 of 60 right' "$dir/out" > "$dir/right" && grep -q 'cpu: all' "$dir/out" ||
  { cat "$dir/out"; fail "$command: ohnn_digits"; }
echo "$name: $command: $(cat "$dir/right")"
readme 'anynpu run'
must "$command" "mkdir /opt/readme && cd /opt/readme && mkdir examples && ln -s ../../digits examples/ && $command"
grep -qE '^ +4 +0\.99' "$dir/out" || { cat "$dir/out"; fail "$command"; }
network mobilenet_v2_224 1e-4
network mobilenet_v2_224_qdq 0
must "dpkg -i" 'dpkg -i /opt/packages/*.deb'
theirs install
digits install
mkdir "$root/opt/next"
for deb in "$packages"/*_"$arch".deb; do # the same, as the next version
  rm -rf "$dir/next"
  dpkg-deb -R "$deb" "$dir/next"
  sed -i 's/^Version: .*/Version: 99/; s/(= [^)]*)/(= 99)/' "$dir/next/DEBIAN/control"
  dpkg-deb -Znone -b "$dir/next" "$root/opt/next/" > /dev/null
done
must "anynpu-conformance" 'cd /tmp && anynpu-conformance rknn rules --run 3.g_in_out_num && anynpu-conformance models --api hbucp \
  --out /tmp/models --run 5.1.c_ddr && ls /tmp/models/hbucp/*.onnx /tmp/models/hbucp/*.json'
grep -q 'rknn rules: cases [1-9].*, failed 0' "$dir/out" || { cat "$dir/out"; fail "anynpu-conformance"; }
rm -r "$root/tmp/models"
must "an upgrade" 'dpkg -i /opt/next/*.deb'
rm -r "$root/opt/next" "$dir/next"
theirs upgrade
digits upgrade
must "dpkg --purge" "dpkg --purge $names"
nothing_left "a purge"
echo "$name: deb packages installed, upgraded and purged; the vendor's library is byte-equal"

# With what builds programs and reads manuals.
begin=$SECONDS
scripts/make_root.sh "$root" "$suite" "$arch" gcc libc6-dev make cmake pkg-config man-db rpm > "$dir/out" 2>&1 ||
  { tail -n 30 "$dir/out"; fail "apt-get install"; }
echo "$name: compiler, CMake, man and rpm installed in $((SECONDS - begin)) s"
projects='
anynpu libanynpu.so.0
ohnn   libneural_network_core.so
rknn   librknnrt.so /opt/digits/digits.onnx
hbdnn  libdnn.so /opt/digits/digits.onnx
hbucp  libhbucp.so /opt/digits/digits.onnx
nnapi  libneuralnetworks.so
'
apis=$(awk '{print $1}' <<< "$projects" | xargs)
cat > "$root/opt/projects/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.18)
project(foreign C)
find_package(AnyNPU 0.2 REQUIRED)
foreach(api $apis)
  add_executable(cmake_\${api} \${api}.c)
  target_link_libraries(cmake_\${api} PRIVATE AnyNPU::\${api})
endforeach()
END
for format in "$@"; do
  case $format in
    deb) libdir=/usr/lib/$triplet install='dpkg -i /opt/packages/*.deb' purge="dpkg --purge $names" where='' ;;
    # Debian's rpm knows nothing of the packages that are installed, and its loader nothing of the folder of rpm's
    # systems.
    rpm)
      mkdir -p "$root/usr/lib64"
      echo /usr/lib64 > "$root/etc/ld.so.conf.d/lib64.conf"
      rpm='rpm --dbpath /opt/rpm $(rpm --force-debian --version > /dev/null 2>&1 && echo --force-debian)' # Debian 12's wants that
      libdir=/usr/lib64 install="$rpm -i --nodeps /opt/packages/*.rpm" purge="$rpm -e $names"
      where='PKG_CONFIG_PATH=/usr/lib64/pkgconfig AnyNPU_DIR=/usr/lib64/cmake/AnyNPU' ;;
  esac
  files > "$dir/before"
  must "$format: install" "$install"
  ! grep -i 'scriptlet failed' "$dir/out" || fail "$format: the packages' scripts" # of which rpm only warns
  [ -f "$root$libdir/libanynpu.so" ] || fail "$format: $libdir/libanynpu.so leads to $(readlink "$root$libdir/libanynpu.so")"
  must "$format: find_package" "cd /opt && $where cmake -S projects -B cmake && cmake --build cmake"
  count=0
  while read -r api needed arguments; do
    [ -n "$api" ] || continue
    file=anynpu-$api
    [ "$api" != anynpu ] || file=anynpu
    must "$format: a program by $file.pc" "cd /opt && $where sh -c 'gcc projects/$api.c -o cmake/pc_$api \$(pkg-config --cflags --libs $file)'"
    for program in "cmake_$api" "pc_$api"; do
      readelf -d "$root/opt/cmake/$program" | grep "NEEDED.*\[$needed\]" > /dev/null || fail "$format: $program does not need $needed"
      must "$format: $program" "/opt/cmake/$program $arguments"
    done
    count=$((count + 1))
  done <<< "$projects"
  [ $count = "$(find "$root$libdir/pkgconfig" -name 'anynpu*.pc' | wc -l)" ] || fail "$format: $count of the pkg-config files are tried"
  [ $count = "$(grep -cE '^ *anynpu_target\(' "$root$libdir/cmake/AnyNPU/AnyNPUConfig.cmake")" ] || fail "$format: $count of the targets are tried"
  digits "$format"
  must "$format: the tool" 'anynpu --version && anynpu inspect /opt/digits/digits.onnx'
  must "$format: the manual page" 'MANPAGER=cat man anynpu && MANPAGER=cat man anynpu-exec'
  grep -q 'anynpu exec' "$dir/out" || { cat "$dir/out"; fail "$format: the manual page says nothing of anynpu exec"; }
  must "$format: purge" "$purge"
  nothing_left "$format: a purge"
  rm -r "$root/opt/cmake"
  echo "$name: $format: $count pkg-config files, $count CMake targets, the tool and its manual page; a purge leaves nothing"
done
