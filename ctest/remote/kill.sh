#!/usr/bin/env bash
# usage: kill.sh [API...]
# A server, `anynpu serve`, that SIGKILL ends in the middle of 2,000 runs of 16 threads of a program of each API: with a
# second address and with the CPU to fall back to all are right; without, runs end with the API's code. None takes
# longer than the deadline.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
make --no-print-directory libs "${BUILD:-build}"/bin/anynpu > /dev/null
. ctest/drivers/remote_cells.sh
. ctest/remote/networks.sh
[ $# = 0 ] || apis=("$@")
dir=$(mktemp -d)
declare -A servers=()
ended() {
  for pid in "${servers[@]}"; do kill -9 "$pid" 2> /dev/null || true; done
  rm -rf "$dir"
}
trap ended EXIT
fail() { cat "$dir/log"; echo "kill: $*"; exit 1; }
chmod 755 "$dir"
mkdir "$dir/none" "$dir/models"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
plain_digits "$dir/models/plain.onnx"
build_networks "$dir"
network_models "$dir" "$dir/models/plain.onnx"
begin() { # NAME: a server, whose address is addresses[NAME]
  ANYNPU_DRIVERS=$dir/none "$build/bin/anynpu" serve "$dir/models" --grpc 127.0.0.1:0 --http off --instances 2 \
    > "$dir/$1.out" 2> "$dir/$1.err" &
  servers[$1]=$!
  for _ in $(seq 600); do
    ! grep -q '^ready: ' "$dir/$1.out" || break
    kill -0 "${servers[$1]}" 2> /dev/null || { cat "$dir/$1.err"; fail "the server ended"; }
    sleep 0.1
  done
  addresses[$1]=grpc://$(sed -n 's/^gRPC on //p' "$dir/$1.out")
}
end() { # NAME: as a machine that loses power
  kill -9 "${servers[$1]}"
  wait "${servers[$1]}" 2> /dev/null || true
  unset "servers[$1]"
}
declare -A addresses=()
# What a run returns that no server computed.
declare -A codes=([ohnn]=14 [rknn]=-1 [hbdnn]=-6000012 [hbucp]=-200003 [nnapi]=14)
deadline=20000
count=0
try() { # API MORE NAME...: a crowd beside these servers, the first of which is killed
  local api=$1 more=$2 list=()
  shift 2
  for name in "$@"; do list+=("${addresses[$name]}"); done
  remote_manifest "$dir/crowd.d/remote.json" plain ", \"deadline_ms\": $deadline$more" "${list[@]}"
  crowd "$dir" "$api" plain 2000 end "$1"
  printf '%-6s %-44s %s\n' "$api" "${more#, }" "$(cat "$dir/crowd")"
  [ "$(crowd_longest "$dir")" -le $deadline ] || fail "$api: a run took longer than the deadline"
  count=$((count + 1))
}
begin second
remote_manifest "$dir/times/remote.json" plain ', "fallback": "off"' "${addresses[second]}"
for api in "${apis[@]}"; do
  for choice in order round-robin; do
    begin first
    try "$api" ", \"fallback\": \"off\", \"choice\": \"$choice\"" first second
    crowd_whole "$dir" $deadline || fail "$api: runs were lost beside a second address"
  done
  begin first
  try "$api" ', "fallback": "cpu"' first
  crowd_whole "$dir" $deadline || fail "$api: runs were lost beside the CPU"
  begin first
  try "$api" ', "fallback": "off"' first
  n=$(sed 's/ .*//' "$dir/crowd")
  grep -q ", code ${codes[$api]} $((2000 - n)) times$" "$dir/crowd" && [ "$n" -ge 500 ] && [ "$n" -lt 2000 ] ||
    fail "$api: want code ${codes[$api]} of every run that was lost"
done
# What the server tells of a run's time there.
ANYNPU_DRIVERS=$dir/times "$build/bin/anynpu" bench "$dir/models/plain.onnx" --device remote:test --concurrency 4 \
  --time 200ms --warmup 0s > "$dir/bench"
grep -Eq ' ms a run, there [0-9.]+ ms of queue and [0-9.]+ ms of computing$' "$dir/bench" || fail "$(cat "$dir/bench")"
end second
echo "kill: $count of $((4 * ${#apis[@]})) crowds as wanted"
