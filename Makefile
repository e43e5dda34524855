# AnyNPU. `make` builds the libraries into build/lib; README.md names the other targets.
# For another machine: GOARCH=arm64 CC=aarch64-linux-gnu-gcc BUILD=build/arm64 make

GO     ?= go

BUILD  ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
DESTDIR ?=

LIB  := $(BUILD)/lib
OBJ  := $(BUILD)/obj
VERSION := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' capi/anynpu/anynpu.go)
ARCH := $(shell $(GO) env GOARCH)
CORE := libneural_network_core.so

# Stub libraries: one per generated list of names.
STUBS := $(patsubst capi/stub/z%.symbols,$(LIB)/%.so,$(wildcard capi/stub/z*.symbols))

SOURCES := $(shell find capi core backends -type f \( -name '*.go' -o -name '*.[chsS]' -o -name '*.ld' \) 2>/dev/null) go.mod go.sum

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all libs examples demo tools-demo test test-long tools-test tools-go conformance mutants conformance-onnx conformance-networks lint generate fuzz install clean

all: libs $(BUILD)/bin/anynpu

libs: $(LIB)/$(CORE) $(STUBS)

# The core library: Go's initialiser in a section of its own (lazy.ld), only the listed names visible, then postlink.
# invalidptr=0: addresses that a program passes are no pointers of Go, whatever their bits are.
$(OBJ)/$(CORE): $(SOURCES) capi/zcore.map
	@mkdir -p $(@D)
	CGO_ENABLED=1 $(GO) build -buildmode=c-shared -trimpath -o $@ -ldflags "-w -X=runtime.godebugDefault=invalidptr=0 -extldflags '\
	-Wl,-T,$(CURDIR)/capi/boundary/lazy.ld -Wl,--version-script=$(CURDIR)/capi/zcore.map -Wl,-soname,$(CORE) -Wl,-z,now'" ./capi
	@rm -f $(@:.so=.h)

$(LIB)/$(CORE): $(OBJ)/$(CORE) capi/postlink/main.go
	@mkdir -p $(@D)
	GOOS= GOARCH= $(GO) run ./capi/postlink $< $@

# The command-line tool: no C.
$(BUILD)/bin/anynpu: $(SOURCES) $(wildcard cmd/anynpu/*.go internal/*/*.go)
	@mkdir -p $(@D)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags -w -o $@ ./cmd/anynpu

# A stub library needs no libc and runs nothing; its own RUNPATH finds the core library beside it.
$(LIB)/%.so: capi/stub/z%_$(ARCH).S capi/stub/z%.map $(LIB)/$(CORE)
	$(CC) -shared -nostdlib -o $@ $< -Wl,-soname,$*.so -Wl,--version-script=capi/stub/z$*.map -Wl,-z,relro,-z,now,-z,defs \
	-Wl,--hash-style=both -Wl,--enable-new-dtags,-rpath,'$$ORIGIN' -L$(LIB) -lneural_network_core

# Tools beyond Go and make, by COMMAND:DEBIAN-PACKAGES; ? marks those that can be missing.
BUILD_TOOLS := $(CC):gcc+libc6-dev
TEST_TOOLS  := $(BUILD_TOOLS) g++:g++ cmake:cmake python3:python3 nm:binutils '?valgrind:valgrind+libc6-dbg'

# Every examples/NAME.c and examples/NAME.cpp becomes build/examples/NAME.
EXAMPLES := $(patsubst examples/%,$(BUILD)/examples/%,$(basename $(wildcard examples/*.c examples/*.cpp)))
HEADERS  := $(shell find include examples -name '*.h')

examples: $(EXAMPLES)

$(BUILD)/examples/%: examples/%.c $(HEADERS) $(LIB)/$(CORE) $(STUBS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra -Iinclude $< -o $@ -L$(LIB) -Wl,-rpath,$(abspath $(LIB)) $(LIBRARIES) -lm

$(BUILD)/examples/%: examples/%.cpp $(HEADERS) $(LIB)/$(CORE) $(STUBS)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 -O2 -Wall -Wextra -Iinclude $< -o $@ -L$(LIB) -Wl,-rpath,$(abspath $(LIB)) $(LIBRARIES) -pthread

# An example links the library of its API's vendor.
$(BUILD)/examples/rknn_%: LIBRARIES := -lrknnrt
LIBRARIES := -lneural_network_core -lneural_network_runtime

demo: tools-demo $(BUILD)/examples/rknn_digits $(BUILD)/examples/ohnn_digits
	$(BUILD)/examples/rknn_digits examples/digits/digits.onnx examples/digits/images/*.pgm
	$(BUILD)/examples/ohnn_digits examples/digits/digits.weights examples/digits/images/*.pgm

tools-go:
	@command -v $(GO) > /dev/null || { echo "missing: Go 1.26 or later, https://go.dev/dl"; exit 1; }

tools-demo: tools-go
	@scripts/need.sh $(BUILD_TOOLS)

# The rules of the C APIs and the operator suites, with this library or those that ANYNPU_CTS_LIBRARY and ANYNPU_RKNN_LIBRARY name.
conformance: libs
	$(GO) run ./conformance/cmd/rules -json $(BUILD)/rules.json -junit $(BUILD)/rules.xml
	$(GO) run ./conformance/cmd/cts -json $(BUILD)/conformance.json -junit $(BUILD)/conformance.xml
	$(GO) run ./conformance/cmd/rknnrules -json $(BUILD)/rknnrules.json -junit $(BUILD)/rknnrules.xml

# The ONNX project's own backend node tests, from one version of its Python package, which carries opset 23.
ONNX_VERSION := 1.18.0
ONNX_VENV := $(BUILD)/onnx-$(ONNX_VERSION)

$(ONNX_VENV)/done:
	python3 -m venv $(ONNX_VENV)
	$(ONNX_VENV)/bin/python -m pip install --quiet --disable-pip-version-check onnx==$(ONNX_VERSION) numpy==2.4.6
	touch $@

conformance-onnx: $(ONNX_VENV)/done
	$(GO) run ./conformance/cmd/onnxnode -known conformance/onnxnode/failures.txt \
		"$$($(ONNX_VENV)/bin/python -c 'import os, onnx.backend.test as t; print(os.path.join(os.path.dirname(t.__file__), "data", "node"))')"

# The benchmark networks against the outputs of ONNX Runtime in bench/expected.zip.
conformance-networks: $(BUILD)/bench/models/done
	$(GO) run ./conformance/cmd/onnxbench $(BUILD)/bench/models

# The table of operators and types, found by trying them with the library.
docs/operators.md: FORCE libs
	ANYNPU_LOG=off $(GO) run ./conformance/cmd/optable $(LIB)/$(CORE) $@
FORCE:

# Seeded wrong kernels that the operator suite must find.
mutants:
	$(GO) run ./conformance/cmd/mutants

test: tools-test libs
	@scripts/suite.sh test

test-long: tools-test libs
	@scripts/suite.sh long

tools-test: tools-go
	@scripts/need.sh $(TEST_TOOLS)

# gofmt, vet and staticcheck. What is generated is compared by `make test`.
lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Everything that is generated and committed. A new generator is a line here; `make test` checks that nothing changes.
generate:
	$(GO) run ./capi/abi/gen
	$(GO) generate ./tools/abicheck
	cd backends/cpu/kernel/gen && $(GO) run . -dir ..
	$(GO) run ./conformance/cmd/ohnnenums tools/abicheck/ohnn.json conformance/ohnn/zenum.go

include bench/bench.mk

# Every fuzz target for FUZZTIME each.
FUZZTIME ?= 30s
fuzz:
	@scripts/fuzz.sh $(FUZZTIME)

install: libs $(BUILD)/bin/anynpu
	install -D -m 755 $(BUILD)/bin/anynpu $(DESTDIR)$(PREFIX)/bin/anynpu
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/share/anynpu
	cd include && find . -name '*.h' -exec install -D -m 644 {} $(abspath $(DESTDIR)$(PREFIX))/include/{} \;
	install -m 755 $(LIB)/*.so $(DESTDIR)$(PREFIX)/lib/
	install -m 644 ctest/valgrind.supp ctest/tsan.supp $(DESTDIR)$(PREFIX)/share/anynpu/
	sed -e 's|@INCLUDE_FROM_PKGCONFIG@|../../include|; s|@PROJECT_VERSION@|$(VERSION)|' scripts/anynpu.pc.in \
		> $(DESTDIR)$(PREFIX)/lib/pkgconfig/anynpu.pc

clean:
	rm -rf $(BUILD)
