#!/usr/bin/env bash
# Programs of each API with a manifest that names inference servers: the project's own fake one, by gRPC and by HTTP.
# Then what becomes of programs when there is none, with and without the CPU to fall back to, what anynpu tells of
# servers, and that a process without a manifest starts nothing.
set -euo pipefail
. "$(dirname "$0")/../../scripts/settings.sh"
make --no-print-directory libs "${BUILD:-build}"/bin/anynpu \
  "${BUILD:-build}"/examples/{ohnn,rknn,hbdnn,hbucp,nnapi}_digits > /dev/null
. ctest/drivers/remote_cells.sh
dir=$(mktemp -d)
server=
ended() {
  [ -z "$server" ] || kill "$server" 2> /dev/null || true
  rm -rf "$dir"
}
trap ended EXIT
fail() { echo "remote: $*"; exit 1; }
chmod 755 "$dir"
mkdir "$dir/none"
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
go build -o "$dir/serve" ./internal/remote/fake/serve
begin() {
  mkfifo "$dir/ready" 2> /dev/null || true
  "$dir/serve" "${1:-127.0.0.1:0}" digits=examples/digits/digits.onnx > "$dir/ready" < <(exec sleep 1000000) &
  server=$!
  read -r _ address < "$dir/ready"
}
begin
cells "$dir" digits "grpc=grpc://$address" "http=http://$address"

anynpu=$build/bin/anynpu
ANYNPU_DRIVERS=$dir/grpc "$anynpu" drivers > "$dir/list"
grep -q 'device remote:test: tensors leave this machine for these servers' "$dir/list" || fail "$(cat "$dir/list")"
grep -q "grpc://$address: ready, fake 1, ModelReady in" "$dir/list" || fail "$(cat "$dir/list")"
grep -q 'model digits: ready, versions 1' "$dir/list" || fail "$(cat "$dir/list")"
ANYNPU_DRIVERS=$dir/grpc "$anynpu" bench examples/digits/digits.onnx --shape image=1,1,8,8 --device remote:test \
  --concurrency 4 --time 200ms --warmup 0s > "$dir/bench" 2> /dev/null
grep -q "^address     grpc://$address: [0-9]* runs, 0 failed" "$dir/bench" || fail "$(cat "$dir/bench")"
ANYNPU_DRIVERS=$dir/grpc "$anynpu" exec --report="$dir/report" -- "$build/examples/rknn_digits" \
  examples/digits/digits.onnx "${images[@]}" > /dev/null 2>&1
grep -q "digits at grpc://$address, [0-9]* bytes sent, [0-9]* received" "$dir/report" || fail "$(cat "$dir/report")"

# No server: the CPU computes, or the run fails.
kill "$server"
wait "$server" 2> /dev/null || true
server=
remote_manifest "$dir/cpu/remote.json" digits '' "grpc://$address"
ANYNPU_DRIVERS=$dir/none remote_run "$dir" rknn_digits
mv "$dir/digits" "$dir/local"
ANYNPU_DRIVERS=$dir/cpu remote_run "$dir" rknn_digits || fail "no server, fallback cpu"
diff "$dir/local" "$dir/digits" || fail "no server, fallback cpu: other digits"
[[ "$(remote_who "$dir")" == *'(cpu: 9)'* ]] || fail "no server: $(remote_who "$dir")"
ANYNPU_FALLBACK=off ANYNPU_DRIVERS=$dir/cpu remote_run "$dir" rknn_digits && fail "no server, ANYNPU_FALLBACK=off"
grep -q 'remote:test: no server: grpc://' "$dir/log" || fail "no reason: $(cat "$dir/log")"

# A process without a manifest starts no program and has no socket.
if command -v strace > /dev/null; then
  ANYNPU_DRIVERS=$dir/none strace -f -e trace=socketpair,socket,execve -o "$dir/trace" "$build/examples/rknn_digits" \
    examples/digits/digits.onnx "${images[0]}" > /dev/null 2>&1
  [ "$(grep -c 'execve\|socket' "$dir/trace")" = 1 ] || fail "without a manifest: $(grep 'execve\|socket' "$dir/trace")"
fi
echo "remote: programs, fallbacks, tool"
