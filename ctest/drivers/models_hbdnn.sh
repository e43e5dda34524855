# Sourced by scripts that build the fake driver of bpu.h: compiled models of its own.

u32() { # NUMBER...: each as four bytes, the lowest first
  local v i
  for v; do for i in 0 8 16 24; do printf "\\$(printf %03o $((v >> i & 255)))"; done; done
}
bpu_model() { # NAME: a file with one model, which comes from standard input
  local data
  data=$(mktemp)
  cat > "$data"
  printf 'FAKEBPU\0FAKEBPU\0'
  u32 1
  printf '%s' "$1"
  head -c $((32 - ${#1})) /dev/zero
  u32 "$(stat -c %s "$data")"
  cat "$data"
  rm "$data"
}
bpu_sum() { # NAME RANK SIZE SIZE SIZE SIZE TYPE FLAGS
  { printf SUM1; u32 "${@:2}"; } | bpu_model "$1"
}
bpu_digits() { bpu_model digits < examples/digits/digits.weights; }

# The driver, with the symbol version of the vendor's unless FLAGS have a script of their own; bpu_ucp: of the newer
# generation, all functions in one file.
bpu() { bpu_build hbdnn libdnn.so "$@"; } # FILE FLAGS...
bpu_ucp() { bpu_build hbucp libhbucp.so "$@" -DBPU_UCP; }
bpu_build() { # API SONAME FILE FLAGS...
  local api=$1 soname=$2 file=$3
  shift 3
  [[ " $* " = *--version-script* ]] || { echo 'CONFIG { global: *; };' > "$file.map"; set -- "$@" "-Wl,--version-script=$file.map"; }
  gcc -Wall -Wextra -Werror -g1 -O1 -D_GNU_SOURCE -Iinclude -Ictest -Ictest/drivers -shared -fPIC \
    "-DCALLS=\"zcalls_$api.h\"" -DCOMPUTE='"bpu.h"' ctest/drivers/fake.c -Wl,-soname,"$soname" -o "$file" "$@" \
    -lpthread -lm
}
