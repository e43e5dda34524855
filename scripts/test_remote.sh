#!/usr/bin/env bash
# Real inference servers and programs of each API: make test-remote, or scripts/test_remote.sh [SERVER...] of triton,
# mlserver and kserve. Each server gets a Python environment below build/remote, which takes some 500 MB and
# minutes the first time, and is started on loopback with files that anynpu export --serve has written. It is ended by
# its own id. A row per program and a column per server must find the digits that the CPU finds.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
make --no-print-directory libs "${BUILD:-build}"/bin/anynpu "${BUILD:-build}"/examples/{ohnn,rknn,hbdnn,nnapi}_digits > /dev/null
. ctest/drivers/remote_cells.sh
[ $# -gt 0 ] || set -- triton mlserver kserve
at=$build/remote
dir=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || kill -- "-$server" 2> /dev/null || true
  [ -z "$server" ] || wait "$server" 2> /dev/null || true
  server=
}
ended() {
  stop
  rm -rf "$dir"
}
trap ended EXIT
chmod 755 "$dir"
mkdir -p "$dir/none" "$at"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
anynpu=$build/bin/anynpu
fail() { echo "test-remote: $*"; exit 1; }

venv() { # NAME PACKAGE...: an environment with these packages
  local name=$1
  shift
  [ -f "$at/$name/ready" ] && return
  python3 -m venv "$at/$name"
  "$at/$name/bin/pip" install -q "$@"
  touch "$at/$name/ready"
}
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
begin() { # COMMAND...: in a session of its own, whose id is the group that stop ends
  setsid "$@" > "$dir/server.log" 2>&1 < /dev/null &
  server=$!
}
await() { # until the server says that the model is ready
  remote_manifest "$dir/probe/remote.json" digits '' "$1"
  for _ in $(seq 240); do
    ANYNPU_DRIVERS=$dir/probe "$anynpu" drivers > "$dir/list" 2>&1
    grep -q 'model digits: ready' "$dir/list" && { cat "$dir/list"; return; }
    kill -0 "$server" 2> /dev/null || break
    sleep 0.5
  done
  tail -30 "$dir/server.log"
  fail "the server does not get ready: $(cat "$dir/list")"
}

triton() { # also its HTTP form, with binary tensors
  venv triton 'nvidia-pytriton==0.7.0' 'numpy==1.26.4' 'onnxruntime==1.32.0'
  local site lib
  site=$("$at/triton/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  lib=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
  local t=$site/pytriton/tritonserver
  cp "$t/python_backend_stubs/$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')/triton_python_backend_stub" \
    "$t/backends/python/"
  "$anynpu" export examples/digits/digits.onnx --serve triton-python -o "$dir/triton" > /dev/null
  local grpc http
  grpc=$(port) http=$(port)
  begin env ORT_SITE="$site" LD_LIBRARY_PATH="$lib" "$t/bin/tritonserver" --model-repository="$dir/triton" \
    --backend-directory="$t/backends" --http-port="$http" --grpc-port="$grpc" --allow-metrics=false \
    --http-address=127.0.0.1 --grpc-address=127.0.0.1 --model-control-mode=explicit --load-model=digits \
    --exit-on-error=false
  await "grpc://127.0.0.1:$grpc"
  cells "$dir" digits "triton=grpc://127.0.0.1:$grpc" "triton-http=http://127.0.0.1:$http"
}

mlserver() {
  venv mlserver 'mlserver==1.7.1' 'onnxruntime==1.32.0'
  "$anynpu" export examples/digits/digits.onnx --serve mlserver -o "$dir/mlserver" > /dev/null
  local grpc
  grpc=$(port)
  echo "{\"host\": \"127.0.0.1\", \"http_port\": $(port), \"grpc_port\": $grpc, \"metrics_port\": $(port)," \
    "\"parallel_workers\": 0, \"debug\": false}" > "$dir/mlserver/settings.json"
  begin env PYTHONPATH="$dir/mlserver" "$at/mlserver/bin/mlserver" start "$dir/mlserver"
  await "grpc://127.0.0.1:$grpc"
  cells "$dir" digits "mlserver=grpc://127.0.0.1:$grpc"
}

kserve() {
  venv kserve 'kserve==0.21.0' 'onnxruntime==1.32.0'
  "$anynpu" export examples/digits/digits.onnx --serve kserve -o "$dir/kserve" > /dev/null
  local grpc
  grpc=$(port)
  begin "$at/kserve/bin/python" "$dir/kserve/kserve_model.py" --http_port "$(port)" --grpc_port "$grpc"
  await "grpc://127.0.0.1:$grpc"
  cells "$dir" digits "kserve=grpc://127.0.0.1:$grpc"
}

for name in "$@"; do
  case $name in
    triton | mlserver | kserve) "$name" ;;
    *) fail "no server $name: want triton, mlserver or kserve" ;;
  esac
  stop
done
echo "test-remote: $*"
