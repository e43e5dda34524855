#!/usr/bin/env bash
# Real inference servers and programs of each API: make test-remote, or scripts/test_remote.sh [SERVER...] of triton,
# mlserver and kserve. Each server gets a Python environment below build/remote, which takes some 500 MB and
# minutes the first time, and is started on loopback with files that anynpu export --serve has written. It is ended by
# its own id. A row per program and a column per server must find the digits that the CPU finds, and compute what
# it computes of MobileNetV2 with real numbers and with codes. Triton is sent models, too, and killed in the middle of
# 2,000 runs.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
make --no-print-directory libs "${BUILD:-build}"/bin/anynpu \
  "${BUILD:-build}"/examples/{ohnn,rknn,hbdnn,hbucp,nnapi}_digits > /dev/null
. ctest/drivers/remote_cells.sh
. ctest/remote/networks.sh
. ctest/remote/servers.sh
[ $# -gt 0 ] || set -- triton mlserver kserve
# Each of these starts a server that has a folder of models, MODEL.onnx, and sets columns to NAME=ADDRESS of it.
triton() { # also its HTTP form, with binary tensors
  venv triton 'nvidia-pytriton==0.7.0' 'numpy==1.26.4' 'onnxruntime==1.32.0' || return
  local site lib t version grpc http model
  site=$("$at/triton/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  lib=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
  version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  t=$site/pytriton/tritonserver
  [ -f "$t/backends/python/triton_python_backend_stub" ] || # one that runs cannot be written
    cp "$t/python_backend_stubs/$version/triton_python_backend_stub" "$t/backends/python/"
  rm -rf "$dir/triton"
  for model in "$@"; do "$anynpu" export "$model" --serve triton-python -o "$dir/triton" > /dev/null; done
  grpc=$(port) http=$(port)
  begin env ORT_SITE="$site" LD_LIBRARY_PATH="$lib" "$t/bin/tritonserver" --model-repository="$dir/triton" \
    --backend-directory="$t/backends" --http-port="$http" --grpc-port="$grpc" --allow-metrics=false \
    --http-address=127.0.0.1 --grpc-address=127.0.0.1 --model-control-mode=explicit --load-model='*' \
    --exit-on-error=false
  columns=("triton=grpc://127.0.0.1:$grpc" "triton-http=http://127.0.0.1:$http")
}
mlserver() {
  venv mlserver 'mlserver==1.7.1' 'onnxruntime==1.32.0' || return
  local grpc model
  rm -rf "$dir/mlserver"
  for model in "$@"; do "$anynpu" export "$model" --serve mlserver -o "$dir/mlserver" > /dev/null; done
  grpc=$(port)
  echo "{\"host\": \"127.0.0.1\", \"http_port\": $(port), \"grpc_port\": $grpc, \"metrics_port\": $(port)," \
    "\"parallel_workers\": 0, \"debug\": false}" > "$dir/mlserver/settings.json"
  begin env PYTHONPATH="$dir/mlserver" "$at/mlserver/bin/mlserver" start "$dir/mlserver"
  columns=("mlserver=grpc://127.0.0.1:$grpc")
}
kserve() { # of one model
  venv kserve 'kserve==0.21.0' 'onnxruntime==1.32.0' || return
  local grpc
  grpc=$(port)
  rm -rf "$dir/kserve"
  "$anynpu" export "$1" --serve kserve -o "$dir/kserve" > /dev/null
  begin "$at/kserve/bin/python" "$dir/kserve/kserve_model.py" --http_port "$(port)" --grpc_port "$grpc"
  columns=("kserve=grpc://127.0.0.1:$grpc")
}

make_models
build_networks "$dir"
network_models "$dir" "${models[@]}"

times() { # of Triton, which counts them for all clients
  ANYNPU_DRIVERS=$dir/${columns[$1]%%=*} "$anynpu" bench "${models[1]}" --device remote:test --concurrency 4 --time 2s \
    > "$dir/bench" 2> /dev/null
  grep -E 'there [0-9.]+ ms of queue and [0-9.]+ ms of computing in [0-9]+ runs of all clients$' "$dir/bench" ||
    fail "$(cat "$dir/bench")"
}
sent() { # of Triton, which lacks the models: it is sent each API's form of them, and computes it
  local upload="{\"backend\": \"triton-python\", \"addresses\": [\"${columns[1]#*=}\"], \"deadline_ms\": 120000}"
  local sent=0 model name
  for model in "${models[@]}"; do
    name=$(basename "$model" .onnx)
    # NNAPI's codes are made of whole numbers, ONNX Runtime's of real ones, so that results differ.
    [[ $name != *_qdq ]] || local apis=(ohnn rknn hbdnn hbucp)
    network_cells "$dir" "$name" "triton-sent=${columns[0]#*=}"
  done
  [ "$sent" -ge 2 ] || fail "$sent models were sent, want both networks at least"
  echo "triton: $sent models sent, and computed there"
}
lost() { # SERVER: it is killed while a program of each API runs, with a second address
  local second=("${columns[@]}") api count=0
  also=$server
  for api in "${apis[@]}"; do
    "$1" "${plain[@]}"
    await "${columns[0]#*=}" plain
    remote_manifest "$dir/crowd.d/remote.json" plain ', "deadline_ms": 60000, "fallback": "off"' "${columns[0]#*=}" \
      "${second[0]#*=}"
    crowd "$dir" "$api" plain 2000 session_end -KILL "$server"
    echo "$1 killed, $api: $(cat "$dir/crowd")"
    crowd_whole "$dir" 60000 || fail "runs were lost beside a second address"
    wait "$server" 2> /dev/null || true
    count=$((count + 1))
  done
  server=$also also=
  echo "$1 killed: $count of ${#apis[@]} crowds lost nothing"
}
mkdir "$dir/plain"
plain_digits "$dir/plain/plain.onnx"
network_models "$dir" "$dir/plain/plain.onnx"
plain=("$dir/plain/plain.onnx")

for name in "$@"; do
  case $name in
    triton | mlserver)
      "$name" examples/digits/digits.onnx "${models[@]}" "${plain[@]}" || { skipped="$skipped $name"; continue; }
      judge examples/digits/digits.onnx "${models[@]}"
      [ "$name" != triton ] || { times 0; times 1; sent; lost triton; }
      stop
      ;;
    kserve)
      for model in examples/digits/digits.onnx "${models[@]}"; do
        kserve "$model" || { skipped="$skipped kserve"; break; }
        judge "$model"
        stop
      done
      ;;
    *) fail "no server $name: want triton, mlserver or kserve" ;;
  esac
done
[ -z "$skipped" ] || echo "SKIP:$skipped: their packages cannot be installed"
echo "test-remote: $*"
