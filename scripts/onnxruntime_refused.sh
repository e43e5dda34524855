#!/usr/bin/env bash
# usage: onnxruntime_refused.sh SITE
# Libraries and plug-ins that are broken, too old or of no use here, each in a manifest of its own: anynpu drivers says
# why in one line, and a program finds the same digits on the next device. The packages are unpacked in SITE.
set -euo pipefail
site=$(realpath "$1")
. "$(dirname "$0")/settings.sh"
make --no-print-directory libs "${BUILD:-build}"/bin/anynpu "${BUILD:-build}"/examples/rknn_digits > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
fail() { echo "onnxruntime refused: $*"; exit 1; }
newest=$site/onnxruntime/onnxruntime/capi/libonnxruntime.so.1.32.0
older=$site/onnxruntime_openvino/onnxruntime/capi/libonnxruntime.so.1.24.1
qnn=$site/onnxruntime_qnn/onnxruntime_qnn/libonnxruntime_providers_qnn.so
plugin() { # NAME SOURCE
  gcc -shared -fPIC -x c - -o "$dir/$1.so" <<< "$2"
}
head -c 100000 "$qnn" > "$dir/cut.so"
echo text > "$dir/text.so"
plugin crash 'void *CreateEpFactories(void) { return *(void **)0; } void *ReleaseEpFactory(void) { return 0; }'
plugin leave '#include <stdlib.h>
void *CreateEpFactories(void) { exit(0); } void *ReleaseEpFactory(void) { return 0; }'
plugin nothing 'int other;'
plugin empty '#include <stddef.h>
void *CreateEpFactories(const char *name, const void *base, const void *logger, void **list, size_t room, size_t *n)
{ *n = 0; return NULL; }
void *ReleaseEpFactory(void *factory) { return NULL; }'
plugin old 'static const void *api(unsigned v) { return 0; } static const char *version(void) { return "1.23.2"; }
static const struct { const void *(*api)(unsigned); const char *(*version)(void); } base = {api, version};
const void *OrtGetApiBase(void) { return &base; }'
head -c 1000000 "$newest" > "$dir/cutlibrary.so"
printf '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\xb7\0' > "$dir/arm.so"
head -c 4000 /dev/zero >> "$dir/arm.so"
chmod 755 "$dir"/*.so

number=0
refused() { # WHAT LIBRARY DEVICE REASON
  number=$((number + 1))
  mkdir -p "$dir/$number"
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"$1\", \"api\": \"onnxruntime\", \"library\": \"$2\"," \
    "\"devices\": [$3]}" > "$dir/$number/manifest.json"
  export ANYNPU_DRIVERS=$dir/$number
  (cd "$dir" && timeout 300 "$build/bin/anynpu" drivers > "$dir/list" 2> "$dir/errors") || true
  grep -q -- "$4" "$dir/list" || { cat "$dir/list" "$dir/errors"; fail "$1: no line says: $4"; }
  (cd "$dir" && timeout 300 "$build/examples/rknn_digits" "$OLDPWD/examples/digits/digits.onnx" \
    "$OLDPWD"/examples/digits/images/00*.pgm > "$dir/out" 2> "$dir/errors") ||
    { cat "$dir/errors"; fail "$1: the program fails"; }
  sed -n 's/^.*\(\/[^:]*: [0-9]\), probability.*/\1/p' "$dir/out" > "$dir/digits"
  [ -f "$dir/first" ] || cp "$dir/digits" "$dir/first"
  [ -s "$dir/digits" ] && diff "$dir/first" "$dir/digits" || fail "$1: other digits"
  echo "ok  $1: $(grep -- "$4" "$dir/list" | head -1 | sed 's/^ *//' | sed "s,$dir/,," | cut -c1-130)"
}
with() { echo "{\"provider\": \"$1\", \"plugin\": \"$2\"${3:+, \"options\": {$3\}}}"; }
cpu='{"provider": "CPUExecutionProvider"}'
refused "a text file as library" "$dir/text.so" "$cpu" 'ELF'
refused "a library that is cut" "$dir/cutlibrary.so" "$cpu" 'damaged ELF file'
refused "a library of another machine" "$dir/arm.so" "$cpu" 'library:.*rm\|library:.*machine\|library:.*built'
refused "a library without the symbol" "$dir/nothing.so" "$cpu" 'OrtGetApiBase'
refused "a library that is too old" "$dir/old.so" "$cpu" '1.24.0 or newer'
refused "a text file as plug-in" "$newest" "$(with Text "$dir/text.so")" 'not an ELF file'
refused "a plug-in that is cut" "$newest" "$(with Cut "$dir/cut.so")" 'signal 7\|damaged ELF'
refused "a plug-in that crashes" "$newest" "$(with Crash "$dir/crash.so")" 'signal 11'
refused "a plug-in that ends the process" "$newest" "$(with Leave "$dir/leave.so")" 'exit'
refused "a plug-in without a factory" "$newest" "$(with Nothing "$dir/nothing.so")" 'CreateEpFactories'
refused "a plug-in without a device" "$newest" "$(with Empty "$dir/empty.so")" 'no device on this machine'
refused "the library as plug-in" "$newest" "$(with Itself "$newest")" 'CreateEpFactories'
refused "a provider that is not there" "$newest" '{"provider": "NoSuchProvider"}' 'not used: '
for back in cpu gpu; do
  refused "QNN's $back" "$newest" "$(with QNNExecutionProvider "$qnn" "\"backend_type\": \"$back\"")" 'not used: '
done
for back in saver ir; do
  refused "QNN's $back" "$newest" "$(with QNNExecutionProvider "$qnn" "\"backend_type\": \"$back\"")" \
    "backend_type=$back computes nothing"
done
refused "OpenVINO's NPU" "$older" '{"provider": "OpenVINO", "options": {"device_type": "NPU"}}' 'not used: '
refused "an option of OpenVINO that is unknown" "$older" \
  '{"provider": "OpenVINO", "options": {"no_such_option": "1"}}' 'not used: '
[ -z "$(find "$dir" -name '*.dlc' -o -name 'core*')" ] || fail "a provider has left a file"
echo "$number of $number are refused in a line, and the next device computes"
