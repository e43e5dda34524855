#!/usr/bin/env bash
# usage: check_install.sh [SINGLE...]
# Installs by make and by cmake, under a strict umask, beside a stand-in for a board's own library, which stays as it is
# through install, upgrade and removal. A foreign project of each API is built against each installation, by CMake's
# find_package and by pkg-config; the SINGLE libraries, which hold the core (default: librknnrt; all: each), run alone
# in a folder.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
singles=("$@")
[ $# -gt 0 ] || singles=(librknnrt)
if [ "${singles[*]}" = all ]; then
  singles=()
  for list in capi/stub/z*.symbols; do
    list=${list##*/z}
    [[ $list != libhb* ]] || continue # loaded along with another library
    singles+=("${list%.symbols}")
  done
fi
umask 077
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "check_install: $*"; exit 1; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "want \"$2\""; }; }
# tree ROOT: every file, link and folder below it, with what is in it
tree() {
  (cd "$1" && find . -type d -printf '%p/\n' -o -type l -printf '%p -> %l\n' -o -type f -exec sha256sum {} + |
    LC_ALL=C sort)
}
same() { diff "$1" "$2" || fail "$3"; }
digits=(examples/digits/digits.onnx examples/digits/images/*.pgm)
weights=(examples/digits/digits.weights examples/digits/images/*.pgm)
right() { # COMMAND...: the digits program recognizes what it should
  "$@" > "$dir/out" 2>&1 || { cat "$dir/out"; fail "$*"; }
  has "$dir/out" '59 of 60 right'
}

# A board: the vendor's library and headers, and a program linked with them. The stand-in fails every call.
board=$dir/board/usr
mkdir -p "$board/lib" "$board/include"
{ sed '/^#/d; s/.*/int &(void) { return -99; }/' capi/stub/zlibrknnrt.symbols; } > "$dir/vendor.c"
gcc -shared -fPIC -o "$board/lib/librknnrt.so" "$dir/vendor.c" -Wl,-soname,librknnrt.so
ln -s librknnrt.so "$board/lib/librknn_api.so"
echo '/* the vendor'"'"'s */' > "$board/include/rknn_api.h"
gcc -Iinclude examples/rknn_digits.c -o "$dir/program" -L"$board/lib" -lrknnrt -lm
tree "$board" > "$dir/before"
theirs() { # the vendor's files are as before
  local file
  while read -r sum file; do
    [ "$(cd "$board" && sha256sum "$file")" = "$sum  $file" ] || fail "$1: $file is not as it was"
  done < <(grep -E '^[0-9a-f]{64}' "$dir/before")
}
make_install() { make --no-print-directory "$@" SINGLE="${singles[*]}" PREFIX=/usr DESTDIR="$dir/board" > "$dir/out" 2> "$dir/err"; }

make_install install || { cat "$dir/err"; fail "make install"; }
theirs install
! LD_LIBRARY_PATH=$board/lib "$dir/program" "${digits[@]}" > "$dir/out" 2>&1 || fail "AnyNPU is on the default path"
right env LD_LIBRARY_PATH="$board/lib/anynpu" "$dir/program" "${digits[@]}"
[ "$(find "$board/lib" -maxdepth 1 -name 'lib*.so*' -printf '%f ' | xargs -n 1 | LC_ALL=C sort | xargs)" = \
  "libanynpu.so libanynpu.so.0 librknn_api.so librknnrt.so" ] ||
  fail "vendors' names on the default path: $(ls "$board/lib")"
unreadable=$(find "$board/lib/anynpu" "$board/include/anynpu" "$board/share" "$board/bin" \
  \( ! -perm -o=r -o -type d ! -perm -o=x \))
[ -z "$unreadable" ] || fail "installed for its owner only: $unreadable"
tree "$board" > "$dir/installed"
make_install install || fail "a second make install"
tree "$board" > "$dir/again"
same "$dir/installed" "$dir/again" "a second installation differs"

# An upgrade: another version, which lacks a file of the one before, and is cut short the first time.
echo gone > "$board/lib/anynpu/libgone.so"
sum=$(sha256sum < "$board/lib/anynpu/libgone.so" | cut -d ' ' -f 1)
echo "$sum lib/anynpu/libgone.so" >> "$board/share/anynpu/manifest"
mkdir "$dir/failing"
printf '#!/bin/sh\ncase $* in *rknn_api.h*) exit 1 ;; esac\nexec /bin/mv "$@"\n' > "$dir/failing/mv"
chmod +x "$dir/failing/mv"
! PATH=$dir/failing:$PATH scripts/install.sh "$board" 0.9.9 lib include > "$dir/out" 2>&1 ||
  fail "an installation that cannot move a file"
rm -f "$board"/include/anynpu/*.new-*
scripts/install.sh "$board" 0.9.9 lib include || fail "an installation cannot be repeated"
theirs upgrade
[ -z "$(find "$board/lib/anynpu/single" -name '*.so')" ] || fail "single libraries are installed that nobody chose"
has "$board/lib/pkgconfig/anynpu-rknn.pc" 'Version: 0.9.9'
[ ! -e "$board/lib/anynpu/libgone.so" ] || fail "an upgrade leaves what only the version before has"

# What others changed stays, also at the removal; with everything as installed, nothing is left.
cp -a "$dir/board" "$dir/board2"
echo changed >> "$board/share/anynpu/tsan.supp"
! make_install install || fail "make install replaces a file that was changed"
has "$dir/err" "$board/share/anynpu/tsan.supp: not installed by AnyNPU, or changed since"
make_install uninstall || fail "make uninstall"
has "$dir/err" "$board/share/anynpu/tsan.supp stays"
theirs removal
scripts/uninstall.sh "$dir/board2/usr"
tree "$dir/board2/usr" > "$dir/after"
same "$dir/before" "$dir/after" "the removal leaves something"

# A file of others under one of our names: nothing changes.
mkdir -p "$dir/taken/lib"
echo theirs > "$dir/taken/lib/libanynpu.so.0"
tree "$dir/taken" > "$dir/before2"
! scripts/install.sh "$dir/taken" 1.0 lib include > "$dir/out" 2>&1 || fail "a file of others is replaced"
has "$dir/out" "$dir/taken/lib/libanynpu.so.0: not installed by AnyNPU"
tree "$dir/taken" > "$dir/after2"
same "$dir/before2" "$dir/after2" "a refused installation changes something"

# A foreign project of each API is ctest/projects/API.c: API, the library that its programs need, their arguments.
projects='
anynpu libanynpu.so.0
ohnn   libneural_network_core.so
rknn   librknnrt.so examples/digits/digits.onnx
hbdnn  libdnn.so examples/digits/digits.onnx
hbucp  libhbucp.so examples/digits/digits.onnx
nnapi  libneuralnetworks.so
'
mkdir "$dir/project"
cp ctest/projects/*.c "$dir/project/"
cat > "$dir/project/CMakeLists.txt" << EOF
cmake_minimum_required(VERSION 3.18)
project(foreign C)
find_package(AnyNPU 0.2 REQUIRED)
foreach(api $(awk '{print $1}' <<< "$projects" | xargs))
  add_executable(cmake_\${api} \${api}.c)
  target_link_libraries(cmake_\${api} PRIVATE AnyNPU::\${api})
endforeach()
EOF
# field FILE KEY: a value of a pkg-config file, in which pcfiledir is the only name from outside
field() {
  local value
  value=$(sed -n "s|^$2[=:] *||p" "$1")
  value=${value//'${includedir}'/$(sed -n 's|^includedir=||p' "$1")}
  value=${value//'${libdir}'/$(sed -n 's|^libdir=||p' "$1")}
  echo "${value//'${pcfiledir}'/$(dirname "$1")}"
}
flags() { # FILE
  if command -v pkg-config > /dev/null; then
    pkg-config --cflags --libs "$1"
  else
    echo "$(field "$1" Cflags) $(field "$1" Libs)"
  fi
}
command -v pkg-config > /dev/null || echo "SKIP: there is no pkg-config; its files are read by this script"

! make --no-print-directory install SINGLE=librknn PREFIX=/opt/anynpu DESTDIR="$dir/none" > "$dir/out" 2>&1 || fail "SINGLE=librknn is taken"
has "$dir/out" 'SINGLE has "librknn": want all, or some of '
make --no-print-directory install SINGLE="${singles[*]}" PREFIX=/opt/anynpu DESTDIR="$dir/make" > /dev/null
! cmake -S . -B "$dir/none" -DANYNPU_BUILD="$build" -DANYNPU_SINGLE=librknn > "$dir/out" 2>&1 || fail "ANYNPU_SINGLE=librknn is taken"
has "$dir/out" 'ANYNPU_SINGLE has "librknn": want all'
cmake -S . -B "$dir/cmake-build" -DANYNPU_BUILD="$build" -DANYNPU_TESTS=OFF \
  -DANYNPU_SINGLE="$(IFS=';'; echo "${singles[*]}")" > /dev/null
cmake --install "$dir/cmake-build" --prefix "$dir/cmake/opt/anynpu" > /dev/null
(cd include && find . -name '*.h' | LC_ALL=C sort) > "$dir/headers"
for how in make cmake; do
  root=$dir/$how/opt/anynpu
  (cd "$root/include/anynpu" && find . -name '*.h' | LC_ALL=C sort) | diff "$dir/headers" - ||
    fail "$how: headers differ"
  # The tool runs with any C library, and without one.
  ! readelf -lW "$root/bin/anynpu" | grep INTERP > /dev/null || fail "$how: the tool needs a loader"
  pc=$(dirname "$(find "$root" -name anynpu.pc)")
  libdir=$(dirname "$pc")
  [ "$(realpath "$(field "$pc/anynpu.pc" includedir)")" = "$root/include/anynpu" ] ||
    fail "$how: includedir $(field "$pc/anynpu.pc" includedir)"
  cmake -S "$dir/project" -B "$dir/project/$how" -DCMAKE_PREFIX_PATH="$root" > "$dir/out" 2>&1 ||
    { cat "$dir/out"; fail "$how: find_package"; }
  cmake --build "$dir/project/$how" > "$dir/out" 2>&1 || { cat "$dir/out"; fail "$how: a project of find_package"; }
  # project API LIBRARY ARGS...: both programs need LIBRARY, and run
  project() {
    local api=$1 needed=$2 file=$pc/anynpu-$1.pc program; shift 2
    if [ "$api" = anynpu ]; then file=$pc/anynpu.pc; fi
    gcc "$dir/project/$api.c" -o "$dir/project/$how/pc_$api" $(flags "$file")
    for program in cmake pc; do
      program=$dir/project/$how/${program}_$api
      readelf -d "$program" | grep "NEEDED.*\[$needed\]" > /dev/null || fail "$program does not need $needed"
      "$program" "$@" > /dev/null || fail "$program $*: exit code $?"
    done
  }
  while read -r api arguments; do
    # shellcheck disable=SC2086
    [ -z "$api" ] || project "$api" $arguments
  done <<< "$projects"
  gcc -D_GNU_SOURCE -Ictest -I"$root/include/anynpu" ctest/link.c -o "$dir/link" -L"$libdir/anynpu" \
    -Wl,-rpath,"$libdir/anynpu" -lneural_network_runtime
  ANYNPU_LOG_FILE=/dev/null "$dir/link"

  # Each library that holds the core, alone in a folder.
  alone() { # NAME SOURCE ARGS...
    local name=$1 source=$2; shift 2
    rm -rf "$dir/alone"
    mkdir "$dir/alone"
    cp "$libdir/anynpu/single/lib$name.so" "$dir/alone/"
    gcc -I"$root/include/anynpu" "examples/$source.c" -o "$dir/alone/program" -L"$dir/alone" -l"$name" -lm
    right env LD_LIBRARY_PATH="$dir/alone" "$dir/alone/program" "$@"
  }
  for single in "${singles[@]}"; do
    case $single in
      librknn*) alone "${single#lib}" rknn_digits "${digits[@]}" ;;
      libdnn) alone dnn hbdnn_digits "${digits[@]}" ;;
      libneuralnetworks) alone neuralnetworks nnapi_digits "${weights[@]}" ;;
      libneural_network_core) alone neural_network_core ohnn_digits "${weights[@]}" ;;
      libneural_network_runtime) alone neural_network_runtime ohnn_api9_digits "${weights[@]}" ;;
      *) fail "no program is known for $single" ;;
    esac
  done
  [ "$(find "$libdir/anynpu/single" -name '*.so' | wc -l)" = ${#singles[@]} ] || fail "$how: $(ls "$libdir/anynpu/single")"
done
for single in "${singles[@]}"; do # no name beside the vendor's
  list=capi/stub/z$single.symbols
  diff <(grep -v '^#' "$list" | LC_ALL=C sort) \
    <(nm -D --defined-only "$lib/single/$single.so" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | LC_ALL=C sort) ||
    fail "$single.so with the core exports other names than $list"
done
echo "a vendor's library beside the installation stays byte-equal; projects of each API build by find_package and" \
  "pkg-config; alone: ${singles[*]}"
