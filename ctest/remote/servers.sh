# Sourced by scripts that start real inference servers, after settings.sh: dir becomes a folder for files, which goes at
# the end with the sessions of server and also; at has Python environments that stay.
at=$build/remote
dir=$(mktemp -d)
server= also= # sessions
session_end() { # SIGNAL ID: every process of a session
  local list
  list=$(ps -o pid= -s "$2") || return 0
  # shellcheck disable=SC2086 # a list
  kill "$1" $list 2> /dev/null || true
}
stop() { # SIGTERM, and after 20 s SIGKILL
  [ -n "$server" ] || return 0
  session_end -TERM "$server"
  for _ in $(seq 200); do
    ps -o pid= -s "$server" > /dev/null || break
    sleep 0.1
  done
  session_end -KILL "$server"
  wait "$server" 2> /dev/null || true
  server=
}
ended() {
  stop
  server=$also
  stop
  rm -rf "$dir"
}
trap ended EXIT
chmod 755 "$dir"
mkdir -p "$dir/none" "$at"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
anynpu=$build/bin/anynpu
fail() { echo "test-remote: $*"; exit 1; }

skipped=
venv() { # NAME PACKAGE...: an environment with these packages; false if it cannot be had
  local name=$1
  shift
  [ ! -f "$at/$name/ready" ] || return 0
  python3 -m venv "$at/$name" && "$at/$name/bin/pip" install -q --disable-pip-version-check "$@" &&
    touch "$at/$name/ready"
}
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
begin() { # COMMAND...: in a session of its own, which stop ends
  setsid "$@" > "$dir/server.log" 2>&1 < /dev/null &
  server=$!
}
await() { # ADDRESS MODEL: until the server says that the model is ready
  remote_manifest "$dir/probe/remote.json" "$2" '' "$1"
  for _ in $(seq 240); do
    ANYNPU_DRIVERS=$dir/probe "$anynpu" drivers > "$dir/list" 2>&1
    ! grep -q "model $2: ready" "$dir/list" || return 0
    kill -0 "$server" 2> /dev/null || break
    sleep 0.5
  done
  tail -n 30 "$dir"/*.log
  fail "the server does not get ready: $(cat "$dir/list")"
}

judge() { # MODEL...: the cells of these models beside the server of columns
  local model name
  for model in "$@"; do
    name=$(basename "$model" .onnx)
    await "${columns[0]#*=}" "$name"
    case $name in
      digits) cells "$dir" digits "${columns[@]}" ;;
      *) network_cells "$dir" "$name" "${columns[@]}" ;;
    esac
  done
  cat "$dir/list"
}
make_models() { # sets models to MobileNetV2 with real numbers and with codes
  venv onnx 'onnx==1.23.2' 'numpy==2.4.6' || fail "onnx and numpy, which write MobileNetV2, cannot be installed"
  [ -f "$at/models/mobilenet_v2_224_qdq.onnx" ] ||
    "$at/onnx/bin/python" bench/gen_bench_models.py --out "$at/models" 'mobilenet_v2_224*' > /dev/null
  models=("$at"/models/mobilenet_v2_224{,_qdq}.onnx)
}
