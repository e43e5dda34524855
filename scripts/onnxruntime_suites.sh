#!/usr/bin/env bash
# usage: onnxruntime_suites.sh SITE [-c COLUMN] [-s SUITE] [-n N] [-p PARTS] [-k FOLDER]
# The suites of the APIs beside the CPU provider of ONNX Runtime and beside OpenVINO, whose packages are unpacked in
# SITE: each case has the result that it has without them. Nodes that a provider does not take go to the CPU. Known
# differences are in ctest/drivers/rules_onnxruntime.txt with their reasons.
#   -c COLUMN  runtime or openvino alone
#   -s SUITE   ohnn-operators, rknn-rules, rknn-numerics or nnapi-operations alone
#   -n N       each N-th case alone
#   -p PARTS   divides the cases of a suite into so many parts, which run and are judged one after another, then together
#   -k FOLDER  keeps the reports there. A part whose report is there already does not run again
# How far a suite is, stderr says every 30 s.
set -euo pipefail
usage() { sed -n '2s/^# //p' "$0" >&2; exit 2; }
[ $# -gt 0 ] || usage
site=$(realpath "$1")
shift
columns="runtime openvino" suites="ohnn-operators rknn-rules rknn-numerics nnapi-operations" sample=1 parts=1 keep=
while getopts c:s:n:p:k: option; do
  case $option in
    c) columns=$OPTARG ;;
    s) suites=$OPTARG ;;
    n) sample=$OPTARG ;;
    p) parts=$OPTARG ;;
    k) mkdir -p "$OPTARG" && keep=$(realpath "$OPTARG") ;;
    *) usage ;;
  esac
done
for word in $columns; do [[ $word =~ ^(runtime|openvino)$ ]] || usage; done
for word in $suites; do [[ $word =~ ^(ohnn-operators|rknn-rules|rknn-numerics|nnapi-operations)$ ]] || usage; done
[ "$sample" -ge 1 ] && [ "$parts" -ge 1 ] || usage
[ "$sample" = 1 ] || [ "$parts" = 1 ] || usage # a sample is not divided
. "$(dirname "$0")/settings.sh"
python3 scripts/onnxruntime_judge.py --test
make --no-print-directory libs > /dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
go build -o "$dir/conformance" ./conformance/cmd/conformance
GOCACHE=$(go env GOCACHE) # Go's own is in XDG_CACHE_HOME
export GOCACHE XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
manifest() { # COLUMN LIBRARY DEVICE
  mkdir "$dir/$1"
  echo "{\"schema\": \"anynpu.driver/1\", \"name\": \"$1\", \"api\": \"onnxruntime\", \"library\": \"$2\"," \
    "\"devices\": [$3]}" > "$dir/$1/manifest.json"
}
manifest runtime "$site/onnxruntime/onnxruntime/capi/libonnxruntime.so.1.32.0" \
  '{"provider": "CPUExecutionProvider", "kind": "cpu"}'
manifest openvino "$site/onnxruntime_openvino/onnxruntime/capi/libonnxruntime.so.1.24.1" \
  '{"provider": "OpenVINO", "kind": "cpu", "options": {"device_type": "CPU", "num_of_threads": "1"}}'

# part runs part K of a suite and adds the names of its reports to the list reports.
part() { # COLUMN SUITE K
  local name=$1-$2 of=$sample code=0 found
  [ "$sample" = 1 ] || name=$name-each$sample
  [ "$parts" = 1 ] || { name=$name-$3of$parts of=$parts; }
  local to=${keep:-$dir}/$name
  if [ ! -e "$to/ended" ]; then
    rm -rf "$to"
    mkdir "$to"
    # A case waits for a provider that compiles on a busy machine.
    ANYNPU_DRIVERS=$dir/$1 "$dir/conformance" "${2%%-*}" "${2#*-}" --placement --timeout 5m --sample "$of" \
      --share "$3" --json "$to/report.json" > "$to/out" || code=$?
    [ -n "$(find "$to" -name 'report*.json')" ] || { tail "$to/out"; echo "$name: no report"; return 1; }
    [ "$code" -gt 1 ] || touch "$to/ended"
  fi
  mapfile -t found < <(find "$to" -name 'report*.json' | sort)
  reports+=("${found[@]}")
  [ "$parts" = 1 ] || echo "part $(($3 + 1)) of $parts:"
  judge "$1" "$2" "${found[@]}"
}

judge() { # COLUMN SUITE REPORT...
  python3 scripts/onnxruntime_judge.py ctest/drivers/rules_onnxruntime.txt "$@"
}

bad=0
for column in $columns; do
  for suite in $suites; do
    reports=()
    for ((k = 0; k < parts; k++)); do part "$column" "$suite" "$k" || bad=1; done
    if [ "$parts" -gt 1 ] && [ "${#reports[@]}" -ge "$parts" ]; then
      echo "all $parts parts:"
      judge "$column" "$suite" "${reports[@]}" || bad=1
    fi
  done
done
[ "$bad" = 0 ] || { echo "onnxruntime suites: not all is as it should be"; exit 1; }
