# Sourced by install.sh and uninstall.sh. The manifest of an installation, share/anynpu/manifest below its root, has a
# line per installed file, CHECKSUM PATH, per symbolic link, ->TARGET PATH, and per folder that was made for them,
# folder PATH; paths are relative to the root. While an installation replaces a file, the file has a line as it was and
# one as it will be.
manifest=share/anynpu/manifest

# identity FILE: the first field of its line, nothing if there is no such file or link
identity() {
  if [ -L "$1" ]; then echo "->$(readlink "$1")"
  elif [ -f "$1" ]; then sha256sum < "$1" | cut -d ' ' -f 1
  fi
}

# read_manifest FILE: sets written[PATH] to identities, each between spaces, and folders, those inside others first
read_manifest() {
  local what path
  while read -r what path; do
    if [ "$what" = folder ]; then folders=("$path" "${folders[@]}"); else written[$path]+=" $what "; fi
  done < "$1"
}

# is_ours ROOT PATH: whether the file is there as it was written
is_ours() {
  local is
  is=$(identity "$1/$2")
  [ -n "$is" ] && [[ ${written[$2]-} == *" $is "* ]]
}
