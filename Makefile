# AnyNPU. `make` builds the libraries into build/lib; README.md names the other targets.
# For another machine: GOARCH=arm64 CC=aarch64-linux-gnu-gcc BUILD=build/arm64 make

# Make would look for a rule of its own for each source: half a second of each run.
MAKEFLAGS += --no-builtin-rules

GO     ?= go

BUILD  ?= build
comma := ,
ifneq ($(words $(BUILD)),1)
$(error BUILD is "$(BUILD)": want a folder without spaces in its name)
endif
export BUILD

# What Go would stamp into programs cannot be read in a checkout that another user owns, such as a container's bind mount.
# With -trimpath for tests and generators too, every package is compiled once for them, the tool and copies of the tree.
# Nothing here is linked with DWARF, so that the compiler need not make it: a tenth of its time. The tool is built without
# C; with net and os/user in Go everywhere, tests and generators have its packages.
FLAGS := -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags=-w -tags=netgo,osusergo
GOFLAGS ?= $(shell $(GO) env GOFLAGS)
override GOFLAGS := $(strip $(filter-out -buildvcs% $(FLAGS),$(GOFLAGS)) $(FLAGS))
export GOFLAGS

ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
DESTDIR ?=

LIB  := $(BUILD)/lib
OBJ  := $(BUILD)/obj
VERSION := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' capi/anynpu/anynpu.go)
ARCH := $(shell $(GO) env GOARCH)
# The core library's file name and SONAME: the number changes when a program that was linked with it no longer runs.
CORE := libanynpu.so.0

# Vendors' file names, one per generated list of names. Each is a stub library that leads to the core library, and once more a
# library that holds the core itself.
VENDORS := $(patsubst capi/stub/z%.symbols,%,$(wildcard capi/stub/z*.symbols))
STUBS   := $(VENDORS:%=$(LIB)/%.so)
# Those that programs load along with another one cannot each hold a core.
ALONE   := $(filter-out libhb%,$(VENDORS))
SINGLES := $(ALONE:%=$(LIB)/single/%.so)

# Those of the second kind that `make install` installs: all, or names. Each takes as much room as the core.
SINGLE ?=
ifneq ($(filter-out all $(ALONE),$(SINGLE)),)
$(error SINGLE has "$(filter-out all $(ALONE),$(SINGLE))": want all, or some of $(ALONE))
endif
CHOSEN := $(if $(filter all,$(SINGLE)),$(ALONE),$(SINGLE))

SOURCES := $(shell find capi core backends -type f \( -name '*.go' -o -name '*.[chsS]' -o -name '*.ld' -o -name '*.names' -o -name 'model.py' \) 2>/dev/null) go.mod go.sum

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all libs singles examples demo tools-build check test test-remote test-onnxruntime test-arm64 test-long test-fresh tools-test tools-go conformance conformance-long conformance-levels mutants conformance-onnx conformance-networks conformance-zoo lint generate fuzz fuzz-forever install uninstall packages clean abi-check release

all: libs $(BUILD)/bin/anynpu $(LIB)/anynpu-devices

libs: $(LIB)/$(CORE) $(STUBS) $(LIB)/anynpu-probe $(LIB)/anynpu-remote

singles: $(SINGLES)

# The core library: Go's runtime adapted to a guest (goruntime), its initializer in a section of its own (lazy.ld), only the
# listed names visible. Its symbol table has the names in kept.names, or all with SYMBOLS=all, for perf and debuggers.
# invalidptr=0: addresses that a program passes are no pointers of Go, whatever their bits are.
# Its folder begins with _ because ./... does not enter such ones. OVERLAY names a file of further sources to replace.
RUNTIME := $(OBJ)/_goruntime
HARDENED := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2

# $(call link_core,SONAME,VERSION-SCRIPT,FILE)
define link_core
@mkdir -p $(dir $3) $(OBJ)
root=$$(GOOS= GOARCH= $(GO) run ./capi/goruntime "$$($(GO) env GOROOT)" "$$($(GO) env GOMODCACHE)" $(RUNTIME) $(OVERLAY)) && \
GOROOT="$$root" GOTOOLCHAIN=local CGO_ENABLED=1 CGO_CFLAGS="$${CGO_CFLAGS:--O2} $(HARDENED)" "$$root/bin/go" build \
-overlay $(RUNTIME)/overlay.json -buildmode=c-shared -trimpath -o $(OBJ)/$1.$$$$.so -ldflags "-w -buildid= -B none -X=runtime.godebugDefault=invalidptr=0 \
-extldflags '\"-Wl,-T,$(CURDIR)/capi/boundary/lazy.ld\" \"-Wl,--version-script=$(CURDIR)/$2\" -Wl,-soname,$1 \
$(if $(filter all,$(SYMBOLS)),,\"-Wl$(comma)--retain-symbols-file=$(CURDIR)/capi/boundary/kept.names\") \
-Wl,-z,now,-z,relro,-z,noexecstack,--build-id=sha1 -Wl,--wrap=pthread_create'" ./capi && rm -f $(OBJ)/$1.$$$$.h && mv $(OBJ)/$1.$$$$.so $3
endef

$(LIB)/$(CORE): $(SOURCES) capi/zcore.map | tools-build
	$(call link_core,$(CORE),capi/zcore.map,$@)
	ln -sf $(CORE) $(LIB)/libanynpu.so

$(LIB)/single/%.so: capi/stub/z%.map $(LIB)/$(CORE)
	$(call link_core,$*.so,$<,$@)

# What opens a driver before a program's process does, and loads a model as a program does.
$(LIB)/anynpu-probe: $(wildcard capi/probe/*.[ch] include/*.h include/*/*.h) | tools-build
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra $(HARDENED) -Iinclude $(filter capi/%.c,$^) -o $@ -Wl,-z,relro,-z,now,-z,noexecstack -ldl

# What speaks with inference servers for a process that uses a remote device: no C.
$(LIB)/anynpu-remote: $(shell find internal/remote internal/oip cmd/anynpu-remote backends/remote/link backends/dl core/tensor -name '*.go' 2>/dev/null) go.mod | tools-go
	@mkdir -p $(@D)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o $@ ./cmd/anynpu-remote

# The command-line tool: no C.
$(BUILD)/bin/anynpu: $(SOURCES) $(wildcard cmd/anynpu/*.go cmd/anynpu/serve_files/* internal/*/*.go) | tools-go
	@mkdir -p $(@D)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags -w -o $@ ./cmd/anynpu

# The same with what opens drivers: the system's dynamic loader runs it.
$(LIB)/anynpu-devices: $(SOURCES) $(wildcard cmd/anynpu/*.go cmd/anynpu/serve_files/* internal/*/*.go) | tools-go
	@mkdir -p $(@D)
	CGO_ENABLED=0 $(GO) build -trimpath -tags drivers,netgo,osusergo -ldflags "-s -w" -o $@ ./cmd/anynpu

# The suites as a program of their own, which finds AnyNPU where it is installed.
$(BUILD)/bin/anynpu-conformance: $(SOURCES) $(wildcard conformance/*/*.go conformance/*/*/*.go conformance/*/*/*/*.go internal/*/*.go) | tools-go
	@mkdir -p $(@D)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $@ ./conformance/cmd/conformance

# A stub library needs no libc and runs nothing; its own RUNPATH finds the core library beside it, or in the folder above when installed.
$(LIB)/%.so: capi/stub/z%_$(ARCH).S capi/stub/z%.map $(LIB)/$(CORE)
	$(CC) -shared -nostdlib -o $@ $< -Wl,-soname,$*.so -Wl,--version-script=capi/stub/z$*.map -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs \
	-Wl,--hash-style=both -Wl,--enable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/..' -L$(LIB) -lanynpu

# Tools beyond Go and make, by COMMAND:DEBIAN-PACKAGES; ? marks those that can be missing.
CC_PACKAGES   := $(or $(if $(filter gcc,$(CC)),gcc$(comma)libc6-dev),$(if $(filter aarch64-linux-gnu-gcc,$(CC)),gcc-aarch64-linux-gnu$(comma)libc6-dev-arm64-cross),$(firstword $(CC)))
BUILD_TOOLS   := '$(CC) -E -include stdlib.h -x c /dev/null:$(CC_PACKAGES)'
EXAMPLE_TOOLS := '$(CXX) -E -include vector -x c++ /dev/null:g++'
TEST_TOOLS    := $(BUILD_TOOLS) $(EXAMPLE_TOOLS) gcc:gcc,libc6-dev g++:g++ cmake:cmake python3:python3 nm:binutils '?valgrind:valgrind,libc6-dbg'
VENV_TOOLS    := 'python3 -m ensurepip --version:python3,python3-venv'

# Every examples/NAME.c and examples/NAME.cpp becomes build/examples/NAME.
EXAMPLES := $(patsubst examples/%,$(BUILD)/examples/%,$(basename $(wildcard examples/*.c examples/*.cpp)))
HEADERS  := $(shell find include examples -name '*.h')

examples: $(EXAMPLES)

$(EXAMPLES): | tools-build
$(patsubst examples/%.cpp,$(BUILD)/examples/%,$(wildcard examples/*.cpp)): | tools-examples

$(BUILD)/examples/%: examples/%.c $(HEADERS) $(LIB)/$(CORE) $(STUBS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra -Iinclude $< -o $@ -L$(LIB) "-Wl,-rpath,$(abspath $(LIB))" $(LIBRARIES) -lm

$(BUILD)/examples/%: examples/%.cpp $(HEADERS) $(LIB)/$(CORE) $(STUBS)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 -O2 -Wall -Wextra -Iinclude $< -o $@ -L$(LIB) "-Wl,-rpath,$(abspath $(LIB))" $(LIBRARIES) -pthread

# An example links the library of its API's vendor.
$(BUILD)/examples/rknn_%: LIBRARIES := -lrknnrt
$(BUILD)/examples/hbdnn_%: LIBRARIES := -ldnn
$(BUILD)/examples/hbucp_%: LIBRARIES := -lhbucp -ldnn
$(BUILD)/examples/nnapi_%: LIBRARIES := -lneuralnetworks
LIBRARIES := -lneural_network_core -lneural_network_runtime

demo: tools-build
	@scripts/demo.sh

tools-go:
	@scripts/need_go.sh $(GO)

tools-build: tools-go
	@scripts/need.sh $(BUILD_TOOLS)

tools-examples: tools-build
	@scripts/need.sh $(EXAMPLE_TOOLS)

# Every suite is a sub-command.
CONFORMANCE := $(GO) run ./conformance/cmd/conformance

# A fake driver, on whose devices the random networks of NNAPI run, too.
DRIVER := $(BUILD)/drivers/nnapi/libneuralnetworks.so

$(DRIVER): ctest/drivers/fake.c $(wildcard ctest/drivers/*.h include/android/*.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wall -Wextra -D_GNU_SOURCE -Iinclude -Ictest -Ictest/drivers -DCALLS='"zcalls_nnapi.h"' \
		-DCOMPUTE='"nnapi.h"' -shared -fPIC $< -o $@ -Wl,-soname,$(@F) -lpthread -lm

# Every suite that judges a library, with this library or those that ANYNPU_CTS_LIBRARY, ANYNPU_RKNN_LIBRARY,
# ANYNPU_HBDNN_LIBRARY, ANYNPU_HBUCP_LIBRARY and ANYNPU_NNAPI_LIBRARY name.
REPORTS = --html $(BUILD)/$@.html --json $(BUILD)/$@.json --junit $(BUILD)/$@.xml

conformance: libs $(DRIVER)
	$(CONFORMANCE) all $(REPORTS)

# With the cases that take long.
conformance-long: libs $(DRIVER)
	$(CONFORMANCE) all --long $(REPORTS)

# With the kernels of each instruction set in turn, and the reference kernels.
conformance-levels: libs $(DRIVER)
	@scripts/levels.sh

# The ONNX project's own backend node tests, from one version of its Python package, which carries opset 28.
ONNX_VERSION := 1.23.2
ONNX_VENV := $(BUILD)/onnx-$(ONNX_VERSION)

$(ONNX_VENV)/done:
	@scripts/need.sh $(VENV_TOOLS)
	python3 -m venv $(ONNX_VENV)
	$(ONNX_VENV)/bin/python -m pip install --quiet --disable-pip-version-check onnx==$(ONNX_VERSION) numpy==2.4.6
	$(ONNX_VENV)/bin/python conformance/onnx/node/gen.py $(ONNX_VENV)/data
	touch $@

conformance-onnx: $(ONNX_VENV)/done
	$(CONFORMANCE) onnx node --known conformance/onnx/node/failures.txt $(ONNX_VENV)/data/node

# The benchmark networks against the outputs of ONNX Runtime in bench/expected.zip.
conformance-networks: $(BUILD)/bench/models/done
	$(CONFORMANCE) onnx outputs $(BUILD)/bench/models

# The table of operators and types, found by trying them with the library.
docs/ohnn-operators.md: FORCE libs
	ANYNPU_LOG=off $(CONFORMANCE) generate operators --library $(LIB)/$(CORE) $@
FORCE:

# The ONNX files that packages of PyPI and npm ship, beside ONNX Runtime. ZOO is a pattern of PACKAGE-VERSION/FILE.
ZOO ?= *
conformance-zoo: libs $(BUILD)/bin/anynpu
	@scripts/check_zoo.sh '$(ZOO)'

# Seeded bugs that the suites must find: of kernels, and of the library's semantics.
mutants:
	$(CONFORMANCE) mutants

# SUITES names those of scripts/suites to run, as in make test SUITES="go ctest"; without it, each of the tier runs.
SUITES ?=

# What a change needs while one works on it: some two minutes.
check: tools-test
	@GO='$(GO)' scripts/check.sh $(BASE)

test: tools-test all examples $(DRIVER)
	@scripts/suite.sh test $(SUITES)

test-long: tools-test all examples $(DRIVER)
	@scripts/suite.sh long $(SUITES)

# The README's commands on fresh machines.
# What of arm64 an emulator can judge.
test-arm64: tools-test libs
	@scripts/suite.sh long arm64quick arm64

# Real inference servers, or SERVERS="triton kserve".
test-remote: tools-test libs
	@scripts/test_remote.sh $(SERVERS)

# Execution providers of ONNX Runtime, from packages of PyPI.
test-onnxruntime: tools-go
	@scripts/onnxruntime.sh

test-fresh: tools-go
	@scripts/test_fresh.sh

tools-test: tools-go
	@scripts/need.sh $(TEST_TOOLS)

# What programs that were linked with an older library still find: BASELINE is its file, LIBRARY that of today.
LIBRARY ?= $(LIB)/$(notdir $(BASELINE))

abi-check: libs
	@test -n '$(BASELINE)' || { echo "make abi-check: want BASELINE=FILE, the library of an older build"; exit 2; }
	@scripts/need.sh readelf:binutils
	@scripts/abi_check.sh '$(BASELINE)' '$(LIBRARY)'

# gofmt, the width of lines, vet and staticcheck. What is generated is compared by `make test`.
lint:
	@unformatted=$$(find . \( -path './.?*' -o -path ./build \) -prune -o -name '*.go' -exec "$$($(GO) env GOROOT)/bin/gofmt" -l {} +); \
	test -z "$$unformatted" || { echo "not as gofmt has it:"; echo "$$unformatted"; exit 1; }
	@scripts/columns.sh
	@$(GO) run ./scripts/language
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Everything that is generated and committed. A new generator is a line here; `make test` checks that nothing changes.
generate:
	$(GO) run ./capi/abi/gen
	$(GO) run ./backends/onnxruntime/gen backends/onnxruntime/zapi.go capi/probe/zonnxruntime.h
	$(GO) generate ./capi/abi/abicheck
	cd backends/cpu/kernel/gen && $(GO) run . -dir .. && $(GO) run ./arm64 -dir ..
	$(CONFORMANCE) generate bombs ctest/bombs
	$(GO) run ./core/format/rknn/rknntest/gen ctest/digits.rknn
	$(CONFORMANCE) generate names capi/abi/abicheck conformance
	$(CONFORMANCE) generate statements docs
	$(GO) run ./core/spec/nnapi/gen docs/nnapi_operations.md
	$(GO) run ./scripts/picture docs/layers.txt docs/layers.svg
	$(GO) run ./cmd/operatortable docs/operators.md
	$(GO) run ./cmd/messagetable docs/messages.md

include bench/bench.mk

# Every fuzz target for FUZZTIME each.
FUZZTIME ?= 30s
fuzz:
	@scripts/fuzz.sh $(FUZZTIME)

# Every fuzz target in turn, again and again, until one finds something.
fuzz-forever:
	@scripts/fuzz.sh --forever $(FUZZTIME)

# LIBDIR and INCLUDEDIR are folders below PREFIX.
LIBDIR     ?= lib
INCLUDEDIR ?= include

install: libs $(CHOSEN:%=$(LIB)/single/%.so) $(BUILD)/bin/anynpu $(LIB)/anynpu-devices
	@scripts/install.sh '$(DESTDIR)$(PREFIX)' '$(VERSION)' '$(LIBDIR)' '$(INCLUDEDIR)' $(CHOSEN)

uninstall:
	@scripts/uninstall.sh '$(DESTDIR)$(PREFIX)'

# Packages and tarballs for ARCHES, an SPDX document and checksums in build/packages.
ARCHES ?= amd64 arm64
packages: tools-go
	@scripts/packages.sh '$(VERSION)' $(ARCHES)

# Packages, checksums, signatures by the gpg key KEY, an apt repository in build/release, and the tag: docs/release.md.
KEY ?=
release: tools-go
	@test -n '$(KEY)' || { echo "make release: want KEY=NAME, the key that signs, as gpg names it"; exit 2; }
	@scripts/release.sh '$(VERSION)' '$(KEY)' $(ARCHES)

clean:
	rm -rf $(BUILD)
