#!/usr/bin/env bash
# usage: cycles.sh [API...]
# 1,000 cycles of loading, running and unloading a model that a server, `anynpu serve`, computes, over the wire and with
# shared memory, leave no descriptor, thread or memory in a program of each API and in the one that speaks with servers.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
make --no-print-directory libs "${BUILD:-build}"/bin/anynpu > /dev/null
. ctest/drivers/remote_cells.sh
. ctest/remote/networks.sh
[ $# = 0 ] || apis=("$@")
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; rm -rf "$dir"' EXIT
fail() { echo "cycles: $*"; exit 1; }
chmod 755 "$dir"
mkdir "$dir/none" "$dir/models"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
plain_digits "$dir/models/plain.onnx"
build_networks "$dir"
network_models "$dir" "$dir/models/plain.onnx"
ANYNPU_DRIVERS=$dir/none "$build/bin/anynpu" serve "$dir/models" --grpc 127.0.0.1:0 --http off --shared-memory \
  > "$dir/out" 2> "$dir/err" &
server=$!
for _ in $(seq 600); do
  ! grep -q '^ready: ' "$dir/out" || break
  kill -0 "$server" 2> /dev/null || { cat "$dir/err"; fail "the server ended"; }
  sleep 0.1
done
address=grpc://$(sed -n 's/^gRPC on //p' "$dir/out")
before=$(find /dev/shm -name 'anynpu-*' | wc -l)
for api in "${apis[@]}"; do
  for shared in false true; do
    remote_manifest "$dir/cycles.d/remote.json" plain ", \"fallback\": \"off\", \"shared_memory\": $shared" "$address"
    cycles "$dir" "$api" plain "${CYCLES:-1000}" || fail "$api, shared memory $shared: something is left"
  done
done
for _ in $(seq 50); do # the last program that speaks with servers ends after its process
  left=$(find /dev/shm -name 'anynpu-*' | wc -l)
  [ "$left" -gt "$before" ] || break
  sleep 0.1
done
[ "$left" -le "$before" ] || fail "$left files in /dev/shm, $before before"
echo "cycles: nothing is left by $((2 * ${#apis[@]})) programs"
