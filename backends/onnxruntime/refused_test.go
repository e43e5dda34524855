package onnxruntime

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// cLibrary is a shared library of C.
func cLibrary(t *testing.T, source string) string {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc")
	}
	path := filepath.Join(t.TempDir(), "lib.so")
	c := exec.Command(gcc, "-shared", "-fPIC", "-x", "c", "-", "-o", path)
	c.Stdin = strings.NewReader(source)
	text, err := c.CombinedOutput()
	require.NoError(t, err, string(text))
	return path
}

// version is a library whose OrtGetApiBase says a version and has no table of functions.
const version = `
static const void *api(unsigned v) { (void)v; return 0; }
static const char *version(void) { return VERSION; }
static const struct { const void *(*api)(unsigned); const char *(*version)(void); } base = {api, version};
const void *OrtGetApiBase(void) { return &base; }
`

// TestBind_refusals: libraries that are none, too old, or that answer with nothing.
func TestBind_refusals(t *testing.T) {
	for source, want := range map[string]string{
		"int other;":                         "it lacks the symbol OrtGetApiBase",
		"void *OrtGetApiBase() {return 0;}":  "OrtGetApiBase gives nothing",
		`#define VERSION "1.23.9"` + version: "ONNX Runtime 1.23.9, want 1.24.0 or newer",
		`#define VERSION "2.0.0"` + version:  "ONNX Runtime 2.0.0, want 1.24.0 or newer",
		`#define VERSION ""` + version:       "want 1.24.0 or newer",
		`#define VERSION "1.24.0"` + version: "has no API of version 24",
		`#define VERSION "1.99.0"` + version: "has no API of version 29",
	} {
		path := cLibrary(t, source)
		opened, err := driver.Opening{}.Open(path)
		require.NoError(t, err)
		_, err = Bind(path, opened.Lookup, Config{})
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, path)
	}
}

// noFactory is a plug-in that makes nothing.
const noFactory = `
#include <stddef.h>
void *CreateEpFactories(const char *name, const void *base, const void *logger, void **list, size_t room, size_t *n) {
	*n = 0;
	return NULL;
}
void *ReleaseEpFactory(void *factory) { return NULL; }
`

// TestOpen_refusedProviders: each is one sentence, and the others of its list are devices with the ids of their places.
func TestOpen_refusedProviders(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o644))
	providers := []Provider{
		{Name: "Missing", Plugin: filepath.Join(dir, "missing.so")},
		{Name: "Text", Plugin: text},
		{Name: "NoFactory", Plugin: cLibrary(t, "int other;")},
		{Name: "Itself", Plugin: newest(t)},
		{Name: "NoneMade", Plugin: cLibrary(t, noFactory)},
		{Name: "NoneMade", Plugin: cLibrary(t, noFactory)},
		{Name: CPUProvider, Plugin: cLibrary(t, noFactory)},
		{Name: "NoSuchProvider"},
		{Name: "OpenVINO"}, // not in this library
		{Name: CPUProvider},
	}
	c := Config{}
	c.ID, c.Name = "onnxruntime", "test"
	devices, failed, err := Open(bind(t, newest(t)), c, providers)
	require.NoError(t, err)
	require.Len(t, devices, 1)
	assert.Equal(t, "onnxruntime10", devices[0].Info().ID)
	require.Len(t, failed, 9)
	for i, want := range []string{"cannot open shared object file", "file too short", "CreateEpFactories",
		"CreateEpFactories", "offers no device on this machine", "offers no device on this machine", "already registered",
		"built without the provider NoSuchProvider, with ", "built without the provider OpenVINO"} {
		assert.Equal(t, providers[i].Name, failed[i].Provider.Name)
		assert.ErrorContains(t, failed[i].Err, want)
		assert.Equal(t, fault.Unsupported, fault.KindOf(failed[i].Err))
		assert.NotContains(t, failed[i].Err.Error(), "\n")
	}
	_, _, err = Open(bind(t, newest(t)), c, nil)
	assert.ErrorContains(t, err, "no provider is named")
}

// TestOpen_pluginUnderTwoNames: one plug-in under two names is two devices that compute, and a fault of its provider is
// known under either name.
func TestOpen_pluginUnderTwoNames(t *testing.T) {
	long(t)
	plugin := file(t, "onnxruntime_qnn/onnxruntime_qnn/libonnxruntime_providers_qnn.so")
	options := map[string]string{"backend_type": "htp"}
	c := Config{}
	c.ID, c.Name = "onnxruntime", "test"
	devices, failed, err := Open(bind(t, newest(t)), c, []Provider{{Name: "First", Plugin: plugin, Options: options},
		{Name: "Second", Plugin: plugin, Options: options}})
	require.NoError(t, err)
	require.Empty(t, failed)
	require.Len(t, devices, 2)
	for i, d := range devices {
		assert.Equal(t, []string{"onnxruntime", "onnxruntime2"}[i], d.Info().ID)
		assert.Equal(t, "Qualcomm", d.Info().Vendor)
		e, out := bound(t, d, products(t, 2, 16), 2)
		require.NoError(t, run(e, time.Time{}))
		data, _ := out.Map()
		assert.EqualValues(t, 4, mem.Elements[float32](data)[0])
		e.Release()
		out.Release()
		supports(t, d, func(b *graph.Builder) graph.Value {
			return b.Add(&op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}, Ceil: op.RoundCeilInside},
				b.Input("x", tensor.T(tensor.Float32, 1, 2, 5, 5)))
		}, "MaxPool that rounds up")
	}
}

// TestOpen_openVINOOptions: a device or option that the provider does not know is refused when the device is made.
func TestOpen_openVINOOptions(t *testing.T) {
	c := Config{}
	c.ID, c.Name = "onnxruntime", "test"
	for _, options := range []map[string]string{{"device_type": "NPU"}, {"device_type": "CPU", "no_such_option": "1"}} {
		_, failed, err := Open(bind(t, openVINO(t)), c, []Provider{{Name: "OpenVINO", Options: options}})
		require.NoError(t, err)
		require.Len(t, failed, 1, "%v", options)
		assert.ErrorContains(t, failed[0].Err, "OpenVINO")
	}
}

// TestSupport_namesNodes: what ONNX does not have, what the provider has no kernel for, and what has open sizes, are
// each refused for themselves.
func TestSupport_namesNodes(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Float32, 2, 3))
	open := b.Input("open", tensor.Type{DType: tensor.Float32, Shape: tensor.Shape{Ranked: true,
		Dims: []tensor.Dim{tensor.AnyDim()}}})
	b.SetOrigin(0, "")
	b.Output(b.Add(&op.Relu{}, x), b.Add(&op.Relu{}, open), b.Add(&op.Neg{}, x))
	g, err := b.Graph()
	require.NoError(t, err)
	answers, err := openCPU(t).Support(g, device.Options{})
	require.NoError(t, err)
	require.Len(t, answers, 3)
	assert.True(t, answers[0].OK, answers[0].Reason)
	assert.Contains(t, answers[1].Reason, "its sizes are not known before the run")
	assert.True(t, answers[2].OK, answers[2].Reason)
}

// TestLoad_damaged: a saved program with one byte changed, cut short, or of another kind is refused with a sentence.
func TestLoad_damaged(t *testing.T) {
	d := openCPU(t)
	p, err := d.Compile(context.Background(), device.Unit{Graph: products(t, 2, 4)}, device.Options{})
	require.NoError(t, err)
	defer p.Release()
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	for at := 0; at < saved.Len(); at += 7 {
		broken := bytes.Clone(saved.Bytes())
		broken[at] ^= 0x10
		_, err := d.Load(context.Background(), broken)
		require.Equal(t, fault.File, fault.KindOf(err), "byte %d: %v", at, err)
	}
	for _, n := range []int{0, 7, 8, saved.Len() / 2, saved.Len() - 1} {
		_, err := d.Load(context.Background(), saved.Bytes()[:n])
		require.Equal(t, fault.File, fault.KindOf(err), "%d bytes: %v", n, err)
	}
	again, err := d.Load(context.Background(), saved.Bytes())
	require.NoError(t, err)
	again.Release()
}

// TestLog_linesAreOurs: why OpenVINO has no NPU here it says in its log alone, and that comes to ours.
func TestLog_linesAreOurs(t *testing.T) {
	type line struct {
		severity Severity
		text     string
	}
	lines := make(chan line, 64)
	l := bind(t, openVINO(t))
	log := Log(func(s Severity, _, text string) {
		select {
		case lines <- line{s, text}:
		default:
		}
	})
	before := sink.Swap(&log)
	defer sink.Store(before)
	_, failed, err := Open(l, Config{Config: driver.Config{ID: "onnxruntime"}}, []Provider{{Name: "OpenVINO",
		Options: map[string]string{"device_type": "NPU"}}})
	require.NoError(t, err)
	require.Len(t, failed, 1)
	require.NotEmpty(t, lines)
	got := <-lines
	assert.Equal(t, Error, got.severity)
	assert.Contains(t, got.text, "NPU")
	assert.NotContains(t, got.text, "\n")
}

// TestBind_withoutTelemetry: with the environment there is no thread of the library's that writes files, and nothing in
// a new home.
func TestBind_withoutTelemetry(t *testing.T) {
	const child = "ANYNPU_TEST_TELEMETRY"
	if os.Getenv(child) != "" {
		bind(t, newest(t))
		time.Sleep(300 * time.Millisecond)
		return
	}
	home := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), child+"=1", "HOME="+home, "TMPDIR="+home, "XDG_CACHE_HOME=", "CI=",
		"ANYNPU_ONNXRUNTIME_SITE="+site(t))
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	found, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Empty(t, found)
}
