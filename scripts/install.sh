#!/usr/bin/env bash
# usage: install.sh ROOT VERSION LIBDIR INCLUDEDIR [SINGLE...]
# Installs what `make` has built below ROOT, for everyone to read whatever the umask. LIBDIR and INCLUDEDIR are folders
# below ROOT. Each SINGLE, as librknnrt, is a vendor's library that holds the whole core and is installed, too. Nothing
# is changed if a file is there that no installation wrote. What an earlier installation wrote and this one lacks goes.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
. scripts/manifest.sh
root=$1 version=$2 libdir=$3 includedir=$4; shift 4
umask 022
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# The files as they are to lie below the root.
core=libanynpu.so.0
install -D -m 755 "$build/bin/anynpu" "$stage/bin/anynpu"
install -D -m 755 "$lib/$core" "$stage/$libdir/$core"
ln -s $core "$stage/$libdir/libanynpu.so"
for list in capi/stub/z*.symbols; do
  name=$(basename "$list" .symbols)
  install -D -m 755 "$lib/${name#z}.so" "$stage/$libdir/anynpu/${name#z}.so"
done
for name in "$@"; do install -D -m 755 "$lib/single/$name.so" "$stage/$libdir/anynpu/single/$name.so"; done
install -D -m 755 "$lib/anynpu-probe" "$stage/$libdir/anynpu/anynpu-probe"
install -D -m 755 "$lib/anynpu-devices" "$stage/$libdir/anynpu/anynpu-devices"
install -D -m 755 "$lib/anynpu-remote" "$stage/$libdir/anynpu/anynpu-remote"
(cd include && find . -name '*.h' -print0) | while IFS= read -r -d '' header; do
  install -D -m 644 "include/$header" "$stage/$includedir/anynpu/$header"
done
mkdir -p "$stage/$libdir/pkgconfig" "$stage/$libdir/cmake/AnyNPU" "$stage/share/anynpu"
install -m 644 ctest/valgrind.supp ctest/tsan.supp "$stage/share/anynpu/"
for template in scripts/packages/*.in; do
  name=$(basename "$template" .in)
  case $name in *.pc) folder=pkgconfig ;; *) folder=cmake/AnyNPU ;; esac
  sed -e "s|@INCLUDE_FROM_LIB@|$(realpath -ms --relative-to="/$libdir" "/$includedir")|; s|@VERSION@|$version|; s|@CORE@|$core|" \
    -e "s|@MAJOR_MINOR@|${version%.*}|" "$template" > "$stage/$libdir/$folder/$name"
done

# What is there already, and who wrote it.
declare -A written=() known=()
folders=()
if [ -f "$root/$manifest" ]; then read_manifest "$root/$manifest"; fi
foreign=()
while IFS= read -r -d '' path; do
  known[$path]=$(identity "$stage/$path")
  if [ ! -e "$root/$path" ] && [ ! -L "$root/$path" ]; then continue; fi
  is_ours "$root" "$path" || foreign+=("$root/$path")
done < <(cd "$stage" && find . \( -type f -o -type l \) -printf '%P\0' | LC_ALL=C sort -z)
if [ ${#foreign[@]} -gt 0 ]; then
  printf 'install: %s: not installed by AnyNPU, or changed since\n' "${foreign[@]}" >&2
  echo "install: nothing was changed; move what is named away, or choose another PREFIX" >&2
  exit 1
fi

# The manifest is written before anything else, so that an installation that is cut short can be repeated or taken back.
mkdir -p "$root"
make_folder() { # PATH, relative to the root
  if [ -d "$root/$1" ]; then return; fi
  make_folder "$(dirname "$1")"
  mkdir "$root/$1"
  folders=("$1" "${folders[@]}")
}
write_manifest() {
  local path is at
  {
    for ((at = ${#folders[@]} - 1; at >= 0; at--)); do echo "folder ${folders[at]}"; done
    for path in "${!written[@]}"; do
      for is in ${written[$path]}; do echo "$is $path"; done
    done | LC_ALL=C sort -k 2
  } > "$root/$manifest.new"
  mv -f "$root/$manifest.new" "$root/$manifest"
}
for path in "$manifest" "${!known[@]}"; do make_folder "$(dirname "$path")"; done
for path in "${!known[@]}"; do written[$path]+=" ${known[$path]} "; done
write_manifest
for path in "${!known[@]}"; do
  cp -P --preserve=mode "$stage/$path" "$root/$path.new-$$"
  mv -fT "$root/$path.new-$$" "$root/$path" # programs that run keep the file that they have mapped
done
for path in "${!written[@]}"; do
  if [ -n "${known[$path]-}" ]; then
    written[$path]=" ${known[$path]} "
  else
    if is_ours "$root" "$path"; then rm -f "$root/$path"; fi
    unset "written[$path]"
  fi
done
write_manifest
