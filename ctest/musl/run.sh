#!/usr/bin/env bash
# usage: run.sh [ARCH...]
# The libraries, the digits programs and the C hosts of ctest/ with musl in place of glibc, for amd64 and arm64, the
# latter under qemu. ctest/musl/hosts lists the hosts, and why some are left out. Prints "musl ARCH: N of M hosts".
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
out=$build
fail() { echo "musl: $*"; exit 1; }
onnx=examples/digits/digits.onnx rknn=ctest/digits.rknn images=$(echo examples/digits/images/*.pgm)
weights=examples/digits/digits.weights
export ANYNPU_LOG_FILE=/dev/null

# The programs that are linked with the vendors' libraries, and one that is not and gets them by LD_PRELOAD.
programs() {
  local example library model
  while read -r example library model; do
    # shellcheck disable=SC2046,SC2086
    $cc -Iinclude "examples/$example.c" -o "$work/$example" -L"$lib" -Wl,-rpath,"$lib" $(flags ${library//,/ }) -lm
    # shellcheck disable=SC2086
    $run "$work/$example" "$model" $images > "$work/out" 2>&1 || { tail "$work/out"; fail "$arch: $example"; }
    grep -F '59 of 60 right' "$work/out" || { cat "$work/out"; fail "$arch: $example"; }
  done << END
rknn_digits rknnrt $onnx
hbdnn_digits dnn $onnx
hbucp_digits hbucp,dnn $onnx
ohnn_digits neural_network_core $weights
nnapi_digits neuralnetworks $weights
END
}

# dlopen: musl's loader refuses a library that needs room beside each thread's own data, which Go's threads do. The
# sentence is the loader's. With the library loaded before the program, by LD_PRELOAD, it works.
opened() {
  $cc -D_GNU_SOURCE ctest/musl/opens.c -o "$work/opens"
  $run "$work/opens" "$lib/librknnrt.so" > "$work/out" 2>&1 &&
    fail "$arch: dlopen works; docs/install.md says that it does not"
  grep -q 'initial-exec TLS' "$work/out" || { cat "$work/out"; fail "$arch: dlopen fails for another reason"; }
  $run $preload"$lib/libanynpu.so.0" "$work/opens" "$lib/librknnrt.so" > "$work/out" 2>&1 ||
    { cat "$work/out"; fail "$arch: LD_PRELOAD"; }
  echo "musl $arch: dlopen is refused, and works with LD_PRELOAD"
}

# anynpu exec has the libraries beside it; it does what the program needs by itself.
executed() {
  local anynpu=${BUILD:-build}/musl-$arch/bin/anynpu plain
  GOARCH=$arch BUILD=${BUILD:-build}/musl-$arch make --no-print-directory "$anynpu" > /dev/null
  "$anynpu" exec -- "$work/opens" librknnrt.so > "$work/out" 2>&1 || { cat "$work/out"; fail "$arch: anynpu exec"; }
  # shellcheck disable=SC2086
  "$anynpu" exec --report -- "$work/rknn_digits" "$onnx" $images > /dev/null 2> "$work/out" ||
    fail "$arch: anynpu exec --report"
  grep -q 'rknn_run  *60  *0' "$work/out" || { cat "$work/out"; fail "$arch: anynpu exec --report"; }
  plain=$("$anynpu" exec -- /bin/true 2>&1) && fail "$arch: a program of glibc gets libraries of musl"
  case $plain in
    *'is a program of glibc, and the libraries beside this tool are of musl') ;;
    *) fail "$arch: $plain" ;;
  esac
  echo "musl $arch: anynpu exec, with a report"
}

hosts() {
  local source libraries arguments ran=0 all=0 left=() seen=' ' bad=0
  while IFS='|' read -r source libraries arguments; do
    source=${source// /} arguments=${arguments# }
    case $source in '#'* | '') continue ;; "$arch":*) source=${source#*:} ;; *:*) continue ;; esac
    case $seen in *" $source "*) continue ;; esac
    seen+="$source " all=$((all + 1))
    if [ "${libraries// /}" = - ]; then left+=("$source: $arguments"); continue; fi
    dir=$work/dir.$source
    mkdir -p "$dir"
    # shellcheck disable=SC2086,SC2046
    $cc -O1 -g -D_GNU_SOURCE -Iinclude -Ictest -Iexamples "ctest/$source.c" $(more "$source") -o "$work/$source" \
      -L"$lib" -Wl,-rpath,"$lib" -idirafter "$work/kernel" $(flags $libraries) 2> "$work/out" &&
      (eval "timeout 200 $run \"\$work/$source\" $arguments") > "$work/out" 2>&1 && ran=$((ran + 1)) ||
      { bad=1; tail -n 5 "$work/out"; echo "musl $arch: $source failed"; }
  done < ctest/musl/hosts
  for source in $(grep -lE '^int main' ctest/*.c); do
    source=$(basename "$source" .c)
    case $seen in *" $source "*) ;; *) fail "ctest/musl/hosts does not name $source" ;; esac
  done
  echo "musl $arch: $ran of $all hosts"
  [ ${#left[@]} -eq 0 ] || printf '  without %s\n' "${left[@]}"
  return $bad
}
flags() { local each; for each; do case $each in -*) echo "$each" ;; *) echo "-l$each" ;; esac; done; }
more() { if [ "$1" = digits ]; then echo ctest/digits_*.c; fi; }

if [ $# -eq 0 ]; then set -- amd64 arm64; fi
for arch in "$@"; do
  cc=$(scripts/musl_gcc.sh "$arch") || { echo "SKIP: musl for $arch: $cc"; continue; }
  run='' preload='env LD_PRELOAD='
  if [ "$arch" = arm64 ] && [ "$(uname -m)" != aarch64 ]; then
    command -v qemu-aarch64 > /dev/null ||
      { echo "SKIP: musl for arm64: no qemu-aarch64 (Debian: qemu-user)"; continue; }
    run="qemu-aarch64 -L $out/musl-$arch/root" preload='-E LD_PRELOAD='
  fi
  work=$out/musl-$arch/hosts lib=$out/musl-$arch/lib
  GOARCH=$arch CC=$cc BUILD=${BUILD:-build}/musl-$arch make --no-print-directory libs > "$out/musl-$arch.log" 2>&1 ||
    { tail "$out/musl-$arch.log"; fail "$arch: make libs"; }
  rm -rf "$work"
  mkdir -p "$work"
  # The kernel's headers, which musl's packages lack, without glibc's beside them.
  headers=/usr/include triplet=x86_64-linux-gnu
  if [ "$arch" = arm64 ]; then triplet=aarch64-linux-gnu; fi
  if [ -d "/usr/$triplet/include/linux" ]; then headers=/usr/$triplet/include; fi
  mkdir "$work/kernel"
  ln -s "$headers/linux" "$headers/asm-generic" "$work/kernel/"
  for folder in "$headers/$triplet/asm" "$headers/asm"; do
    if [ -d "$folder" ]; then ln -sT "$folder" "$work/kernel/asm" && break; fi
  done
  programs
  opened
  if [ -z "$run" ]; then executed; fi
  hosts
done
