#!/usr/bin/env bash
# `anynpu check --api` says what a program gets that loads the model: the same sentence as anynpu_last_error, and exit
# code 1, where the call fails, 0 where it does not.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "check_api: $*"; exit 1; }
make --no-print-directory libs "${BUILD:-build}/bin/anynpu" > /dev/null
lib=$(cd "${BUILD:-build}/lib" && pwd) tool=$(cd "${BUILD:-build}/bin" && pwd)/anynpu
export ANYNPU_LOG_FILE=/dev/null
cat > "$dir/load.c" << 'EOF'
#include <anynpu.h>
#include <dnn/hb_dnn.h>
#include <neural_network_runtime/neural_network_runtime.h>
#include <rknn_api.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *api = argv[1], *file = argv[argc - 1];
	rknn_context context;
	hbPackedDNNHandle_t packed;
	int failed;
	if (strcmp(api, "rknn") == 0) {
		failed = rknn_init(&context, (void *)file, 0, 0, NULL);
	} else if (strcmp(api, "hbdnn") == 0) {
		failed = hbDNNInitializeFromFiles(&packed, &file, 1);
	} else {
		OH_NNCompilation *c = OH_NNCompilation_ConstructWithOfflineModelFile(file);
		failed = !c || OH_NNCompilation_Build(c);
	}
	if (failed)
		printf("anynpu: %s\n", anynpu_last_error());
	return !!failed;
}
EOF
gcc -Iinclude "$dir/load.c" -o "$dir/load" -L"$lib" -lanynpu -Wl,-rpath,"$lib"
# Models of one operator: its results have sizes that the values decide, and 17 dimensions.
python3 - "$dir" << 'EOF'
import sys

def field(n, v):
    return bytes([n << 3 | 2]) + (bytes([len(v)]) if len(v) < 128 else bytes([len(v) & 127 | 128, len(v) >> 7])) + v

def number(n, v):
    return bytes([n << 3, v])

def value(name, kind, dims):
    shape = b"".join(field(1, field(2, d.encode()) if isinstance(d, str) else number(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, number(1, kind) + field(2, shape)))

def model(op, given, made):
    graph = field(1, field(1, b"x") + field(2, b"y") + field(4, op)) + field(2, b"g")
    graph += field(11, value(b"x", *given)) + field(12, value(b"y", *made))
    return number(1, 8) + field(7, graph) + field(8, number(2, 17))

for name, data in (("open", model(b"NonZero", (1, [2, 3]), (7, [2, "n"]))), ("long", model(b"Relu", (1, [1] * 17), (1, [1] * 17))),
                   ("relu", model(b"Relu", (1, [2, 3]), (1, [2, 3])))):
    open(f"{sys.argv[1]}/{name}.onnx", "wb").write(data)
EOF
cp ctest/digits.rknn "$dir/alone.rknn"
echo '{"anynpu.models": ["relu.onnx", "long.onnx"]}' > "$dir/pack.json"
taken=0 refused=0
for api in rknn hbdnn ohnn; do
  for file in "$dir"/*.onnx "$dir"/alone.rknn "$dir"/pack.json examples/digits/digits.onnx; do
    want=0 got=0
    sentence=$("$dir/load" "$api" "$file") || want=$?
    said=$("$tool" check --api "$api" "$file" 2>&1 > "$dir/out") || got=$?
    [ "$want" = "$got" ] || fail "$api, $file: exit code $got, want $want: $said"
    [ "$sentence" = "$said" ] || fail "$api, $file: it says '$said', want '$sentence'"
    grep -q "takes it" "$dir/out" || [ "$want" = 1 ] || fail "$api, $file: nothing is said of a model that is taken"
    if [ "$want" = 1 ]; then refused=$((refused + 1)); else taken=$((taken + 1)); fi
  done
done
[ "$taken" -ge 5 ] && [ "$refused" -ge 5 ] || fail "$taken are taken, $refused refused: the models show nothing"
said=$("$tool" check --api nnapi "$dir/relu.onnx")
grep -q "ANeuralNetworksCompilation_finish takes it" <<< "$said" || fail "nnapi: $said"
got=0
said=$("$tool" check --api nnapi "$dir/open.onnx" 2>&1) || got=$?
[ "$got" = 1 ] && grep -q "NNAPI has no operation for it: operator 0 (non_zero" <<< "$said" || fail "nnapi, $got: $said"
got=0
said=$("$tool" check --json --api rknn "$dir/long.onnx" 2> /dev/null) || got=$?
[ "$got" = 1 ] && grep -q '"usable": false' <<< "$said" || fail "json, $got: $said"
echo "anynpu check --api: $taken models taken and $refused refused as programs are"
