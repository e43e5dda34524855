package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/record"
)

// propertiesC is a program's text with the tensor properties of a version of the hbDNN headers.
const propertiesC = `
#include <stdint.h>
typedef struct { int32_t dimensionSize[8], numDimensions; } hbDNNTensorShape;
typedef struct {
	hbDNNTensorShape validShape, alignedShape;
	int32_t tensorLayout, tensorType;
	struct { int32_t shiftLen; uint8_t *shiftData; } shift;
	struct { int32_t scaleLen; float *scaleData; int32_t zeroPointLen; int8_t *zeroPointData; } scale;
	int32_t quantiType;
#ifdef AXIS
	int32_t quantizeAxis;
#endif
	int32_t alignedByteSize;
#ifdef STRIDE
	int32_t stride[8];
#endif
} hbDNNTensorProperties;
extern int hbDNNGetInputTensorProperties(hbDNNTensorProperties *, void *, int32_t);
#ifdef FORMER
extern int hbDNNUnquantizeByScale(void);
int former(void) { return hbDNNUnquantizeByScale(); }
#endif
int use(void *m) { hbDNNTensorProperties p; return hbDNNGetInputTensorProperties(&p, m, 0) + p.tensorType; }
`

// The size of a struct in a program's descriptions of types tells which headers it was built with.
func TestExec_generationOfHbDNN(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "program.c")
	require.NoError(t, os.WriteFile(source, []byte(propertiesC), 0o600))
	for _, c := range []struct {
		flags []string
		abi   string
		says  string
	}{
		{[]string{"-g"}, "1.12", "136 bytes"},
		{[]string{"-g", "-DFORMER"}, "1.12", "ANYNPU_HBDNN_ABI=1.9"},
		{[]string{"-g", "-DAXIS"}, "1.14", "144 bytes"},
		{[]string{"-g", "-DAXIS", "-DSTRIDE"}, "", ""},
		{nil, "", ""},
	} {
		program := filepath.Join(dir, "program.so")
		args := append(append([]string{}, c.flags...), "-shared", "-fPIC", "-o", program, source)
		out, err := exec.Command("cc", args...).CombinedOutput()
		require.NoError(t, err, string(out))
		environment, note := (&execFlags{}).setABI("program", program, []string{"A=b"})
		if c.abi == "" {
			assert.Equal(t, []string{"A=b"}, environment, c.flags)
			assert.Empty(t, note, c.flags)
			continue
		}
		assert.Equal(t, []string{"A=b", "ANYNPU_HBDNN_ABI=" + c.abi}, environment, c.flags)
		assert.Contains(t, note, c.says, c.flags)
		given := []string{"ANYNPU_HBDNN_ABI=1.23"}
		environment, note = (&execFlags{}).setABI("program", program, given)
		assert.Equal(t, given, environment)
		assert.Empty(t, note)
	}
}

// After a crash exec names the setting to programs of which nothing tells the headers.
func TestExec_untoldABI(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libdnn.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-Wl,-soname,libdnn.so", "-x", "c", "/dev/null", "-o", library).
		CombinedOutput()
	require.NoError(t, err, string(out))
	for text, want := range map[string]bool{
		"int hbDNNInfer(void); int f(void) { return hbDNNInfer(); }":                 true,
		"int hbDNNSetTaskDoneCb(void); int f(void) { return hbDNNSetTaskDoneCb(); }": false,
		"int hbUCPFree(void); int f(void) { return hbUCPFree(); }":                   false,
		"int f(void) { return 0; }":                                                  true, // linked with libdnn.so
	} {
		source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p.so")
		require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
		out, err := exec.Command("cc", "-shared", "-fPIC", "-o", program, source, "-Wl,--no-as-needed", library).
			CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, want, untoldABI(program, []string{"A=b"}), text)
		assert.False(t, untoldABI(program, []string{"ANYNPU_HBDNN_ABI=1.23"}), text)
	}
	assert.False(t, untoldABI("/bin/sh", nil))
	assert.False(t, untoldABI(filepath.Join(dir, "none"), nil))
}

func TestExec_crashes(t *testing.T) {
	called := func(names ...string) []record.Process {
		var p record.Process
		for _, n := range names {
			p.Functions = append(p.Functions, record.Function{Name: n})
		}
		return []record.Process{{}, p}
	}
	assert.True(t, calledHB(called("rknn_init", "hbSysAllocMem")))
	assert.False(t, calledHB(called("hbDNNRelease", "hbUCPFree")))
	assert.False(t, calledHB(called("hbDNNRelease", "hbDNNInferV2")))
	assert.False(t, calledHB(called("rknn_init")))
	for signal, want := range map[syscall.Signal]bool{0: false, syscall.SIGTERM: false, syscall.SIGKILL: false,
		syscall.SIGSEGV: true, syscall.SIGABRT: true, syscall.SIGBUS: true} {
		var said strings.Builder
		(&ended{signal: signal}).tellABI("./program", &said)
		assert.Equal(t, want, strings.Contains(said.String(), "ANYNPU_HBDNN_ABI=1.14, then 1.12"), signal)
	}
}

// What a program imports tells the newer generation, and exec sets it for one that is not linked with libhbucp.so.
func TestInfo_programs(t *testing.T) {
	dir := t.TempDir()
	build := func(text string, flags ...string) string {
		source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p.so")
		require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
		out, err := exec.Command("cc", append([]string{"-shared", "-fPIC", "-o", program, source}, flags...)...).
			CombinedOutput()
		require.NoError(t, err, string(out))
		return program
	}
	const newer = "int hbDNNInferV2(void); int hbDNNRelease(void); int f(void) { return hbDNNInferV2() + hbDNNRelease(); }"
	program := build(newer)
	code, out, errs := anynpu("info", program)
	require.Equal(t, 0, code, errs)
	for _, want := range []string{"generation  UCP", "imports     2: hbDNNInferV2 hbDNNRelease",
		"set         ANYNPU_HBDNN_ABI=ucp", "is not linked with libhbucp.so"} {
		assert.Contains(t, out, want)
	}
	environment, note := (&execFlags{}).setABI("p", program, nil)
	assert.Equal(t, []string{"ANYNPU_HBDNN_ABI=ucp"}, environment)
	assert.Contains(t, note, "hbDNNInferV2")

	library := filepath.Join(dir, "libhbucp.so")
	stub, err := exec.Command("cc", "-shared", "-fPIC", "-Wl,-soname,libhbucp.so", "-x", "c", "/dev/null", "-o", library).
		CombinedOutput()
	require.NoError(t, err, string(stub))
	_, out, _ = anynpu("info", build(newer, "-Wl,--no-as-needed", library), "--json")
	assert.Contains(t, out, `"generation": "hbucp"`)
	assert.Contains(t, out, `"abi": ""`)

	for text, want := range map[string]string{
		"int hbDNNInfer(void); int f(void) { return hbDNNInfer(); }":                 "does not say which version",
		"int hbDNNSetTaskDoneCb(void); int f(void) { return hbDNNSetTaskDoneCb(); }": "1.18 or newer",
		"int f(void) { return 0; }": "none: no function of hbDNN",
	} {
		_, out, _ = anynpu("info", build(text))
		assert.Contains(t, out, want)
		assert.NotContains(t, out, "set  ")
	}
	for _, file := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "p.c")} {
		code, _, errs = anynpu("info", file)
		assert.Equal(t, 2, code)
		assert.Contains(t, errs, "no program that can be read")
	}
}
