# `make bench`: this library beside other engines, and what calls and runs cost. docs/bench.md explains the figures.
BENCH := $(BUILD)/bench

BENCH_RUN     ?= *
BENCH_THREADS ?= 1,2
BENCH_SECONDS ?= 1
BENCH_ROUNDS  ?= 3
BENCH_PEERS   ?= openvino ncnn
BENCH_PROVIDER ?= 30 # seconds for each network

# libonnxruntime comes with the npm package, of which only Linux's libraries are unpacked: the rest takes npm long.
ORT_VERSION := 1.30.0
ORT := $(BENCH)/onnxruntime-node-$(ORT_VERSION)
ORT_LIBRARY = $(ORT)/package/bin/napi-v6/linux/$(patsubst amd64,x64,$(ARCH))/libonnxruntime.so.1

.PHONY: bench bench-arm64 bench-boards bench-calls bench-compare bench-images bench-measure bench-nnapi bench-operators \
	bench-provider bench-turns bench-wide

bench: bench-calls bench-compare bench-wide bench-measure bench-boards bench-provider bench-images

# BASELINE=DIR also compares with the libraries in DIR, of another commit:
#   git worktree add ../before COMMIT && make -C ../before libs && make bench-calls BASELINE=../before/build/lib
bench-calls: libs
	@ctest/bench/run.sh $(LIB) $(BASELINE)

$(ORT)/done:
	@scripts/need.sh npm:npm || { echo "make bench needs npm: it installs onnxruntime-node $(ORT_VERSION), whose libonnxruntime is measured beside this library"; exit 1; }
	@mkdir -p $(ORT)
	cd $(ORT) && npm pack --silent onnxruntime-node@$(ORT_VERSION) > /dev/null
	tar -xzf $(ORT)/onnxruntime-node-$(ORT_VERSION).tgz -C $(ORT) --wildcards 'package/bin/*/linux/*/libonnxruntime.so.1'
	@test -f $(ORT_LIBRARY) || { echo "onnxruntime-node $(ORT_VERSION) has no $(ORT_LIBRARY)"; exit 1; }
	rm $(ORT)/onnxruntime-node-$(ORT_VERSION).tgz
	touch $@

$(BENCH)/models/done: bench/gen_bench_models.py bench/model_graph.py $(ONNX_VENV)/done
	$(ONNX_VENV)/bin/python bench/gen_bench_models.py --out $(BENCH)/models
	touch $@

# Every C program of bench/anynpu, linked with the core library.
BENCH_PROGRAMS := $(patsubst bench/anynpu/%.c,$(BENCH)/%,$(wildcard bench/anynpu/*.c))

$(BENCH)/%: bench/anynpu/%.c $(wildcard bench/anynpu/*.h) ctest/host.h ctest/ohnn_host.h ctest/sides.h $(LIB)/$(CORE)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -Ictest $< -o $@ -L$(LIB) "-Wl,-rpath,$(abspath $(LIB))" \
	-lanynpu -lpthread -lm

# The wide set of networks.
$(BENCH)/wide/done: bench/gen_bench_models.py bench/model_graph.py bench/halves.py $(wildcard bench/networks_*.py) \
		$(ONNX_VENV)/done
	$(ONNX_VENV)/bin/python bench/gen_bench_models.py --wide --out $(BENCH)/wide
	touch $@

# The engines of Python's packages that are measured beside this library. pnnx makes ncnn's models; its program needs
# none of the packages that its package wants, of which one is PyTorch.
PEERS_ORT := 1.32.0
PEERS_OPENVINO := 2026.4.0
PEERS_NCNN := 1.0.20261020
PEERS_PNNX := 20261020
PEERS_VENV := $(BENCH)/peers-$(PEERS_ORT)-$(PEERS_OPENVINO)-$(PEERS_NCNN)

$(PEERS_VENV)/done:
	@scripts/need.sh $(VENV_TOOLS)
	python3 -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check onnxruntime==$(PEERS_ORT) \
	openvino==$(PEERS_OPENVINO) ncnn==$(PEERS_NCNN) onnx==$(ONNX_VERSION) numpy==2.4.6
	$(PEERS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps pnnx==$(PEERS_PNNX)
	touch $@

# compare FOLDER,OUT: the networks of a folder, with the reports in OUT.
define compare
	cd bench && CGO_ENABLED=1 $(GO) build -o "$(abspath $(BENCH))/" ./ort ./compare
	$(BENCH)/compare -models $(1) -anynpu $(BENCH)/engine -ort $(BENCH)/ort -ortlib $(ORT_LIBRARY) -out $(2) \
	-peers '$(foreach p,$(BENCH_PEERS),$(p)=$(PEERS_VENV)/bin/python bench/engine_$(p).py$(comma))' \
	-run '$(BENCH_RUN)' -threads $(BENCH_THREADS) -seconds $(BENCH_SECONDS) -rounds $(BENCH_ROUNDS)
endef

COMPARE_NEEDS = tools-go libs $(ORT)/done $(if $(strip $(BENCH_PEERS)),$(PEERS_VENV)/done) $(BENCH_PROGRAMS)

bench-compare: $(COMPARE_NEEDS) $(BENCH)/models/done
	$(call compare,$(BENCH)/models,$(BENCH))

bench-wide: $(COMPARE_NEEDS) $(BENCH)/wide/done
	$(call compare,$(BENCH)/wide,$(BENCH)/wide)

bench-measure: libs $(BENCH)/models/done $(BENCH_PROGRAMS)
	@bench/measure.sh $(BENCH)

bench-nnapi: libs $(BENCH)/models/done $(BENCH_PROGRAMS)
	$(GO) build -o "$(abspath $(BENCH))/" ./cmd/nnapicalls
	@bench/nnapi.sh $(BENCH) $(LIB) $(BENCH_SECONDS) $(BENCH_THREADS) \
	'$(if $(filter *,$(BENCH_RUN)),mobilenet_v2_224*$(comma)resnet50_224*,$(BENCH_RUN))'

# Two networks on ONNX Runtime's CPU provider through this library, beside ONNX Runtime called directly.
bench-provider: libs $(ORT)/done $(BENCH)/models/done $(BENCH_PROGRAMS)
	@for m in mobilenet_v2_224 mobilenet_v2_224_qdq resnet50_224 resnet50_224_qdq; do \
	"$(abspath $(BENCH))/provider" $(LIB) "$(abspath $(ORT_LIBRARY))" "$(abspath $(BENCH))/models/$$m.onnx" $(BENCH_PROVIDER) || exit 1; done

# BASELINE=DIR as for bench-calls.
bench-boards: libs $(BUILD)/bin/anynpu $(BENCH)/models/done $(BENCH)/boards
	@bench/boards.sh $(BUILD) $(BENCH_ROUNDS) $(foreach m,yolo_heads_320_qdq mobilenet_v2_224_qdq mobilenet_v2_224,$(BENCH)/models/$(m).onnx)

# BASELINE=DIR, as for bench-calls, is needed.
bench-turns: libs $(BENCH)/models/done $(BENCH_PROGRAMS)
	@bench/turns.sh $(BENCH) $(LIB) '$(BASELINE)' $(BENCH_SECONDS) $(BENCH_THREADS) '$(BENCH_RUN)'

IMAGES_VENV := $(BENCH)/opencv-5.0.0.93

$(IMAGES_VENV)/done:
	@scripts/need.sh $(VENV_TOOLS)
	python3 -m venv $(IMAGES_VENV)
	$(IMAGES_VENV)/bin/python -m pip install --quiet --disable-pip-version-check opencv-python-headless==5.0.0.93 \
	onnx==$(ONNX_VERSION) numpy==2.4.6
	touch $@

bench-images: $(BUILD)/bin/anynpu $(IMAGES_VENV)/done
	@$(IMAGES_VENV)/bin/python bench/images.py $(BUILD)/bin/anynpu $(BENCH)/images $(BENCH_ROUNDS)

# BENCH_RUN has patterns of OPERATOR or OPERATOR/TYPE.
bench-operators: $(BUILD)/bin/anynpu $(PEERS_VENV)/done
	@$(PEERS_VENV)/bin/python bench/operators.py --tool $(BUILD)/bin/anynpu --out $(BENCH) --run '$(BENCH_RUN)' \
	--rounds $(BENCH_ROUNDS)

# Instructions instead of times: what runs of networks execute on arm64, beside ONNX Runtime, under emulation.
# ARM64_CPUS are processors that qemu emulates; those of ARM64_HALVES are measured with float16, too; BASELINE=FILE is
# arm64.json of another commit. ARM64_SET=wide names networks of the wide set by ARM64_RUN.
ARM64_SET  ?= models
ARM64_RUN  ?= lenet_28,encoder_256x4_s128,mobilenet_*,squeezenet11_224,resnet50_*,yolo_heads_320_qdq,matmul_m*_k1024_n1024*
ARM64_CPUS ?= cortex-a76,cortex-a72
ARM64_HALVES ?= encoder_256x4_s128,mobilenet_v2_224
ARM64 := $(BUILD)/arm64

$(BENCH)/arm64_count.so: bench/arm64_count.c
	@mkdir -p $(@D)
	gcc -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC $< -o $@

bench-arm64: tools-go $(ORT)/done $(BENCH)/$(ARM64_SET)/done $(BENCH)/arm64_count.so
	@scripts/need.sh qemu-aarch64:qemu-user aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu,libc6-dev-arm64-cross \
	'?llvm-mca-19:llvm-19'
	GOARCH=arm64 CC=aarch64-linux-gnu-gcc BUILD=$(ARM64) $(MAKE) --no-print-directory libs
	@mkdir -p $(BENCH)/arm64
	aarch64-linux-gnu-gcc -std=c11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -Ictest bench/anynpu/engine.c \
	-o $(BENCH)/arm64/engine -L$(ARM64)/lib "-Wl,-rpath,$(abspath $(ARM64)/lib)" -lanynpu -lpthread -lm
	cd bench && CGO_ENABLED=1 GOARCH=arm64 CC=aarch64-linux-gnu-gcc $(GO) build -o "$(abspath $(BENCH))/arm64/" ./ort
	@rm -rf $(BENCH)/halves
	$(ONNX_VENV)/bin/python bench/halves.py $(BENCH)/$(ARM64_SET) $(BENCH)/halves '$(ARM64_HALVES)'
	@bench/arm64.py --bench $(abspath $(BENCH)) --set $(ARM64_SET) --run '$(ARM64_RUN)' --cpus $(ARM64_CPUS) $(addprefix --baseline ,$(BASELINE))
	@bench/arm64_mca.sh
