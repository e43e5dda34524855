#!/usr/bin/env bash
# usage: ray.sh [PART...] of cells, throughput, replica, node and example, which is the last: its application stays
# Ray Serve on two nodes of this machine, with what anynpu export --serve ray writes. cells: programs of each API, by
# gRPC and by HTTP, find what the CPU finds. throughput: runs per second with 1, 2 and 4 replicas. example:
# examples/serve/ray_serve.py. replica, node: one of four replicas, or a node with two of them, is ended by SIGKILL in
# the middle of 2,000 runs of 16 threads of a program of each API: with a second address or the CPU to fall back to all
# are right; without, runs that are lost end with the API's code. None takes longer than the deadline.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
make --no-print-directory libs "${BUILD:-build}"/bin/anynpu \
  "${BUILD:-build}"/examples/{ohnn,rknn,hbdnn,hbucp,nnapi}_digits > /dev/null
. ctest/drivers/remote_cells.sh
. ctest/remote/networks.sh
. ctest/remote/servers.sh
[ $# -gt 0 ] || set -- cells throughput replica node example
[ -z "${APIS:-}" ] || read -ra apis <<< "$APIS"
venv ray 'ray[serve]==2.60.0' 'onnxruntime==1.32.0' 'tritonclient[grpc]==2.73.0' \
  'grpcio-reflection==1.76.0' || # a newer one wants another protobuf than tritonclient
  { echo "SKIP: Ray Serve cannot be installed"; exit 0; }

# Processes of Ray do not all stay in the session that they are started in: they are found by their parents.
family() { # PID: it and what has descended from it
  ps -eo pid=,ppid= | awk -v root="$1" '
    { parent[$1] = $2 }
    END { for (p in parent) for (q = p; q > 1; q = parent[q]) if (q == root) { print p; break } }'
}
declare -A roots=() # NAME: the first process of a node, of the application, or of a server beside them
end_now() { # NAME: SIGKILL to all of it at once
  local list
  [ -n "${roots[$1]:-}" ] || return 0
  list=$(family "${roots[$1]}")
  # shellcheck disable=SC2086 # a list
  kill -9 $list 2> /dev/null || true
  wait "${roots[$1]}" 2> /dev/null || true
  unset "roots[$1]"
}
all_end() {
  local name
  for name in "${!roots[@]}"; do end_now "$name"; done
  rm -rf "$dir"
}
trap all_end EXIT
start() { # NAME COMMAND...
  local name=$1
  shift
  "$@" > "$dir/$name.log" 2>&1 < /dev/null &
  roots[$name]=$!
}
soon() { # SECONDS WHAT COMMAND...: until it succeeds
  local limit=$1 what=$2
  shift 2
  for _ in $(seq $((limit * 2))); do
    ! "$@" || return 0
    sleep 0.5
  done
  tail -n 20 "$dir"/*.log
  fail "$what"
}
logged() { grep -q "$2" "$dir/$1.log"; }

export RAY_USAGE_STATS_ENABLED=0 RAY_memory_monitor_refresh_ms=0
# Ray's own limits are short for a machine that has more to do, and its workers give way to everything.
export RAY_raylet_start_wait_time_s=180 RAY_worker_niceness=0
export PYTHONPATH=$dir/models:$PWD/examples/serve
export RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S=120 RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S=60
bin=$at/ray/bin
head_port=$(port) http=$(port) grpc=$(port)
nodes=(--block --num-cpus=2 --object-store-memory=80000000 --disable-usage-stats)
head_node() {
  start head "$bin/ray" start --head --port="$head_port" --node-ip-address=127.0.0.1 --temp-dir="$dir/ray" \
    --include-dashboard=false "${nodes[@]}"
  soon 180 "the first node does not start" logged head 'Ray runtime started'
}
second_node() {
  start other "$bin/ray" start --address="127.0.0.1:$head_port" --node-ip-address=127.0.0.2 "${nodes[@]}"
  soon 180 "the second node does not start" logged other 'Ray runtime started'
}
application() { # REPLICAS: the models of the folder, on both nodes
  [ -n "${roots[other]:-}" ] || second_node
  if [ -n "${roots[app]:-}" ]; then
    kill "${roots[app]}" 2> /dev/null || true
    wait "${roots[app]}" 2> /dev/null || true
    unset 'roots[app]'
  fi
  start app "$bin/python" "$dir/models/ray_models.py" --ray "127.0.0.1:$head_port" --http_port "$http" \
    --grpc_port "$grpc" --replicas "$1" --cpus 0.9
  server=${roots[app]}
  soon 300 "the application does not start" logged app '^ready$'
}
replicas() { # NODE: their ids
  local list
  list=$(family "${roots[$1]}" | tr '\n' ',')
  ps -o pid=,args= -p "${list%,}" | awk '$2 ~ /^ray::ServeReplica:/ { print $1 }'
}
replica_count() { [ "$( (replicas head; replicas other) | wc -l)" -ge "$1" ]; }

make_models
build_networks "$dir"
network_models "$dir" "${models[@]}"
mkdir "$dir/plain"
plain_digits "$dir/plain/plain.onnx"
network_models "$dir" "$dir/plain/plain.onnx"
for model in examples/digits/digits.onnx "${models[@]}" "$dir/plain/plain.onnx"; do
  "$anynpu" export "$model" --serve ray -o "$dir/models" > /dev/null
done
head_node
columns=("ray=grpc://127.0.0.1:$grpc" "ray-http=http://127.0.0.1:$http")

throughput() {
  local n
  for n in 1 2 4; do
    application "$n"
    await "${columns[0]#*=}" mobilenet_v2_224
    remote_manifest "$dir/speed/remote.json" mobilenet_v2_224 ', "fallback": "off", "deadline_ms": 60000' \
      "${columns[0]#*=}"
    ANYNPU_DRIVERS=$dir/speed "$anynpu" bench "${models[0]}" --device remote:test --concurrency 8 --time 10s \
      > "$dir/bench" 2> /dev/null || fail "$(cat "$dir/bench")"
    grep -Eq ': [0-9]+ runs, 0 failed' "$dir/bench" || fail "$(cat "$dir/bench")"
    echo "$n replicas: $(grep -E '^(runs|median|p99) ' "$dir/bench" | tr -s ' \n' ' ')"
  done
}

# What a run returns that no server computed.
declare -A codes=([ohnn]=14 [rknn]=-1 [hbdnn]=-6000012 [hbucp]=-200003 [nnapi]=14)
deadline=30000
kill_replica() {
  local pid
  pid=$(replicas other | head -1)
  [ -n "$pid" ] || { echo "no replica on the second node"; return 1; }
  kill -9 "$pid"
}
kill_node() { end_now other; }
whole() { # VICTIM: four replicas on two nodes
  [ -n "${roots[other]:-}" ] || second_node
  soon 120 "no four replicas" replica_count 4
  soon 120 "no replica on the second node" logged_replica
  await "${columns[0]#*=}" plain
}
logged_replica() { [ -n "$(replicas other)" ]; }
lost() { # VICTIM
  local api more n count=0 list
  start second env "ANYNPU_DRIVERS=$dir/none" "$anynpu" serve "$dir/plain" --grpc 127.0.0.1:0 --http off
  soon 60 "the second server does not start" logged second '^ready: '
  for more in '"fallback": "off"' '"fallback": "cpu"' 'second'; do
    for api in "${apis[@]}"; do
      whole
      list=("${columns[0]#*=}")
      [ "$more" != second ] || list+=("grpc://$(sed -n 's/^gRPC on //p' "$dir/second.log")")
      remote_manifest "$dir/crowd.d/remote.json" plain \
        ", \"deadline_ms\": $deadline, ${more/second/'"fallback": "off"'}" "${list[@]}"
      crowd "$dir" "$api" plain 2000 "kill_$1"
      printf '%s killed, %-6s %-18s %s\n' "$1" "$api" "${more/second/second address}" "$(cat "$dir/crowd")"
      [ "$(crowd_longest "$dir")" -le $deadline ] || fail "$api: a run took longer than the deadline"
      if [ "$more" = '"fallback": "off"' ]; then
        n=$(sed 's/ .*//' "$dir/crowd")
        [ "$n" = 2000 ] || grep -q ", code ${codes[$api]} $((2000 - n)) times$" "$dir/crowd" ||
          fail "$api: want code ${codes[$api]} of every run that was lost"
        [ "$n" -ge 500 ] || fail "$api: $n runs were right, want what was computed before"
      else
        crowd_whole "$dir" $deadline || fail "$api: runs were lost"
      fi
      count=$((count + 1))
    done
  done
  end_now second
  echo "$1 killed: $count of $((3 * ${#apis[@]})) crowds as wanted"
}

example() { # its HTTP address is that of the Serve instance that runs
  [ -n "${roots[other]:-}" ] || second_node
  if [ -n "${roots[app]:-}" ]; then
    kill "${roots[app]}" 2> /dev/null || true
    wait "${roots[app]}" 2> /dev/null || true
    unset 'roots[app]'
  fi
  "$bin/serve" start --address "127.0.0.1:$head_port" --http-host 127.0.0.1 --http-port "$http" \
    --proxy-location HeadOnly > "$dir/serve.log" 2>&1 || { cat "$dir/serve.log"; fail "serve start"; }
  mkdir -p "$dir/onnx"
  cp examples/digits/digits.onnx "$dir/onnx"
  start app env "ANYNPU=$anynpu" "MODELS=$dir/onnx" "$bin/serve" run --address "127.0.0.1:$head_port" \
    --app-dir examples/serve ray_serve:app
  server=${roots[app]}
  await "${columns[1]#*=}" digits
  cells "$dir" digits "${columns[1]}"
  echo "example: $(ps -eo args= | grep -c "^$anynpu serve $dir/onnx ") servers of replicas"
}

for part in "$@"; do
  case $part in
    cells)
      application 1
      judge examples/digits/digits.onnx "${models[@]}"
      ;;
    throughput) throughput ;;
    replica | node)
      application 4
      lost "$part"
      ;;
    example) example ;;
    *) fail "no part $part" ;;
  esac
done
echo "test-remote: ray $*"
