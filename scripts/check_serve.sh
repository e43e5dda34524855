#!/usr/bin/env bash
# usage: check_serve.sh
# `anynpu serve` asked by the clients that there are: tritonclient, KServe's and MLServer's Python packages, each from
# PyPI in a folder of its own below build/, and curl. Outputs are compared with ONNX Runtime's. Then 1, 8 and 64 clients
# with and without slow ones beside them, a short queue, and the end under load. Clients that cannot be had are SKIPped;
# without tritonclient, which brings ONNX Runtime along, nothing is checked.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
fail() { echo "check_serve: $*"; exit 1; }
venv() { # FOLDER PACKAGE...
  local folder=$build/$1
  shift
  [ ! -e "$folder/ready" ] || return 0
  scripts/need.sh python3:python3-venv > /dev/null && python3 -m venv "$folder" &&
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" && touch "$folder/ready"
}
venv clients-triton 'tritonclient[grpc,http]==2.73.0' onnx==1.23.2 onnxruntime==1.32.0 ||
  { echo "SKIP: tritonclient and onnxruntime cannot be installed"; exit 0; }
make --no-print-directory "${BUILD:-build}"/bin/anynpu > /dev/null
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; rm -rf "$dir"' EXIT
mkdir "$dir/models" "$dir/results"
"$build/clients-triton/bin/python" scripts/serve_models.py examples/digits/digits.onnx "$dir/models" "$dir/results"
go build -o "$dir/serveload" ./scripts/serveload

# start FLAG... serves the models, and sets server, grpc and http.
start() {
  "$build/bin/anynpu" serve "$dir/models" --grpc 127.0.0.1:0 --http 127.0.0.1:0 "$@" > "$dir/out" 2> "$dir/log" &
  server=$!
  for _ in $(seq 600); do
    grep -q '^ready: ' "$dir/out" && break
    kill -0 "$server" 2> /dev/null || { cat "$dir/log"; fail "the server ended"; }
    sleep 0.1
  done
  grpc=$(sed -n 's/^gRPC on //p' "$dir/out") http=$(sed -n 's/^HTTP on //p' "$dir/out")
}
# stop ends it by SIGTERM: exit code 0.
stop() {
  kill "$server"
  code=0
  wait "$server" || code=$?
  server=
  [ "$code" = 0 ] || { cat "$dir/log"; fail "the server ended with $code"; }
}
metric() { curl -sf "http://$http/metrics" | sed -n "s/^$1 //p"; }

start
for client in triton kserve mlserver; do
  case $client in
    kserve) venv clients-kserve kserve==0.21.0 || { echo "SKIP: kserve cannot be installed"; continue; } ;;
    mlserver) venv clients-mlserver mlserver==1.7.1 || { echo "SKIP: mlserver cannot be installed"; continue; } ;;
  esac
  "$build/clients-$client/bin/python" scripts/serve_clients.py "$client" "$grpc" "$http" "$dir/results"
done

# curl: the paths, JSON, binary tensors both ways, and refusals.
asked=0
want() { # STATUS TEXT ARGUMENT...
  local status=$1 text=$2
  shift 2
  code=$(curl -s -o "$dir/answer" -w '%{http_code}' "$@")
  [ "$code" = "$status" ] && grep -aq -- "$text" "$dir/answer" || { cat "$dir/answer"; fail "curl $*: $code, want $status $text"; }
  asked=$((asked + 1))
}
want 200 '"live":true' "http://$http/v2/health/live"
want 200 '"ready":true' "http://$http/v2/health/ready"
want 200 '"name":"anynpu"' "http://$http/v2"
want 200 '"name":"image"' "http://$http/v2/models/digits"
want 200 '"ready":true' "http://$http/v2/models/digits/versions/1/ready"
want 404 'unknown model' "http://$http/v2/models/nosuch"
zeros=$(printf '0,%.0s' $(seq 63))0
json='{"inputs":[{"name":"image","shape":[1,1,8,8],"datatype":"FP32","data":['$zeros']}]}'
want 200 '"shape":\[1,10\]' -d "$json" "http://$http/v2/models/digits/infer"
want 400 'Expected 256, got 252' -d "${json/0,0,/0,}" "http://$http/v2/models/digits/infer"
head='{"parameters":{"binary_data_output":true},"inputs":[{"name":"image","shape":[1,1,8,8],"datatype":"FP32","parameters":{"binary_data_size":256}}]}'
{ printf %s "$head"; head -c 256 /dev/zero; } > "$dir/body"
want 200 '"binary_data_size":40' --data-binary "@$dir/body" -H "Inference-Header-Content-Length: ${#head}" \
  "http://$http/v2/models/digits/infer"
want 400 JSON -d '{' "http://$http/v2/models/digits/infer"
want 200 '"state":"READY"' -X POST "http://$http/v2/repository/index"
want 200 '{}' -X POST "http://$http/v2/repository/models/kinds/unload"
want 503 'not ready' "http://$http/v2/models/kinds/ready"
want 200 '{}' -X POST "http://$http/v2/repository/models/kinds/load"
want 200 'anynpu_requests_total{model="digits",version="1",protocol="http",code="OK"}' "http://$http/metrics"
echo "curl: $asked of $asked right"

"$dir/serveload" -grpc "$grpc" -http "$http" -time "${SECONDS_EACH:-5}s" || fail "load"
echo "beside 500 clients that begin a request and do not go on:"
"$dir/serveload" -grpc "$grpc" -http "$http" -time "${SECONDS_EACH:-5}s" -clients 8 -slow 500 || fail "load beside slow clients"
# A second run of the same leaves no goroutine, no descriptor and no held memory more than the first.
settle() { for _ in $(seq 300); do [ "$(metric anynpu_connections)" -gt 1 ] || break; sleep 0.1; done; }
settle
before="$(metric go_goroutines) goroutines, $(metric process_open_fds) descriptors, $(metric anynpu_held_bytes) bytes"
"$dir/serveload" -grpc "$grpc" -http "$http" -time 2s -clients 64 -slow 200 > /dev/null || fail "load"
settle
after="$(metric go_goroutines) goroutines, $(metric process_open_fds) descriptors, $(metric anynpu_held_bytes) bytes"
[ "$before" = "$after" ] || fail "left behind: $before, then $after"
echo "the same before and after 264 connections: $after"
stop

echo "with a queue of 4:"
start --queue 4
"$dir/serveload" -grpc "$grpc" -http "$http" -time "${SECONDS_EACH:-5}s" -clients 64 | tee "$dir/refusals" || fail "load"
grep -q ' 0 refused' "$dir/refusals" && fail "nothing was refused"
stop

echo "with batches of 16:"
start --batch 16 --batch-delay 2ms
"$dir/serveload" -grpc "$grpc" -http "$http" -time "${SECONDS_EACH:-5}s" -clients 8,64 || fail "load"
stop
grep 'joined' "$dir/log" || true

# The end under load: what the server has begun it answers.
start
"$dir/serveload" -grpc "$grpc" -http "$http" -time 30s -clients 16 > "$dir/cut" 2>&1 &
load=$!
sleep 2
stop
wait "$load" && fail "the load ended before the server"
grep -Eq 'refused|EOF|reset|GOAWAY|closed' "$dir/cut" || { cat "$dir/cut"; fail "the end is not one of connections"; }
grep -q 'answers differ' "$dir/cut" && fail "wrong answers at the end"
echo "the server ended with exit code 0 under load"

go test -count=1 -v -run TestRequests_mutated ./internal/serve -args -mutated "${MUTATED:-1000000}" | grep -E 'map\[|^(ok|FAIL)'
