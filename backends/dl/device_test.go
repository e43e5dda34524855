package dl

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const runtimeManifest = `{"schema": "anynpu.driver/1", "name": "r", "api": "onnxruntime", "library": "/lib/r.so"`

func TestParse_devices(t *testing.T) {
	m, err := Parse("a.json", []byte(runtimeManifest+`}`))
	require.NoError(t, err)
	assert.Equal(t, ModeDevice, m.Mode)
	assert.Equal(t, []Device{{Provider: "CPUExecutionProvider", Kind: "cpu", Vendor: "Microsoft"}}, m.Devices)

	m, err = Parse("a.json", []byte(runtimeManifest+`, "devices": [{"provider": "OpenVINO", "options": {"device_type":
		"GPU"}, "kind": "gpu"}, {"provider": "Q", "plugin": "/q.so", "kind": "accelerator", "vendor": "V"}]}`))
	require.NoError(t, err)
	assert.Equal(t, []Device{{Provider: "OpenVINO", Kind: "gpu", Options: map[string]string{"device_type": "GPU"}},
		{Provider: "Q", Plugin: "/q.so", Kind: "accelerator", Vendor: "V"}}, m.Devices)
}

func TestParse_devicesRefused(t *testing.T) {
	for more, want := range map[string]string{
		`"mode": "driver"`: `mode: "driver": a library of ONNX Runtime is a device alone`,
		`"devices": []`:    "devices: 0 of them: want 1 to 16",
		`"devices": {}`:    "devices: \"{}\": want a list of objects",
		`"devices": [{}]`:  "devices[0].provider: missing or empty",
		`"devices": [{"provider": "a", "path": ""}]`:                           `devices: unknown field "path": want provider, plugin, kind`,
		`"devices": [{"provider": "a", "plugin": "q.so"}]`:                     `devices[0].plugin: "q.so": want an absolute path`,
		`"devices": [{"provider": "a", "plugin": "/q\u0000"}]`:                 "devices[0].provider: want no zero bytes",
		`"devices": [{"provider": "a", "kind": "npu"}]`:                        `devices[0].kind: "npu": want cpu, gpu or`,
		`"devices": [{"provider": "a", "options": {"n": 1}}]`:                  "devices: ",
		`"devices": [{"provider": "a", "options": {"backend_type": "saver"}}]`: "backend_type=saver computes nothing",
		`"devices": [{"provider": "a", "options": {"backend_type": "IR"}}]`:    "backend_type=IR computes nothing",
		`"devices": [{"provider": "a", "options": {"backend_path": "/x/libQnnSaver.so"}}]`: "backend_path=/x/libQnnSaver.so " +
			"computes nothing",
		`"devices": [{"provider": "a", "plugin": "/x"}, {"provider": "a", "plugin": "/y"}]`: `devices[1].provider: "a": there ` +
			`twice`,
	} {
		_, err := Parse("a.json", []byte(runtimeManifest+", "+more+"}"))
		assert.ErrorContains(t, err, want, more)
	}
	_, err := Parse("a.json", []byte(`{"schema": "anynpu.driver/1", "name": "r", "api": "rknn", "library": "/r.so",
		"devices": [{"provider": "a"}]}`))
	assert.ErrorContains(t, err, "devices: only for the api onnxruntime")
}

// TestProbeDevices_eachOfItsOwn has helpers answer for plug-ins: what one does is no reason against the others, ids
// stay what they are, and an answer is kept until the plug-in changes.
func TestProbeDevices_eachOfItsOwn(t *testing.T) {
	m := newMachine(t)
	dir, source := m.dir, "int f;"
	library := m.library("libr.so", source)
	good, bad := m.library("good.so", source), m.library("bad.so", source)
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o644))
	manifest := filepath.Join(dir, "r.json")
	require.NoError(t, os.WriteFile(manifest, []byte(`{"schema": "anynpu.driver/1", "name": "r", "api": "onnxruntime",
		"library": "`+library+`", "devices": [{"provider": "Bad", "plugin": "`+bad+`"}, {"provider": "Text", "plugin": "`+text+
		`"}, {"provider": "Good", "plugin": "`+good+`", "options": {"b": "2", "a": "1"}}]}`), 0o644))
	var started [][]string
	o := Options{Getenv: func(name string) string {
		return map[string]string{"ANYNPU_DRIVERS": manifest, "XDG_CACHE_HOME": filepath.Join(dir, "cache")}[name]
	}, Version: "1.0.0", Helper: func() string { return "/helper" },
		Run: func(argv, _ []string, _ time.Duration) (Outcome, error) {
			started = append(started, argv)
			if argv[4] == bad {
				return Outcome{Exit: -1, Signal: 11}, nil
			}
			return Outcome{Output: "ok\n"}, nil
		}}
	list := List(o)
	require.Len(t, list, 1)
	c := list[0]
	require.Equal(t, Usable, c.Status, c.Reason)
	c.ProbeDevices(o)
	assert.Equal(t, [][]string{{"/helper", "--onnxruntime", library, "Bad", bad},
		{"/helper", "--onnxruntime", library, "Good", good, "a", "1", "b", "2"}}, started)
	assert.Equal(t, []string{"onnxruntime", "onnxruntime2", "onnxruntime3"},
		[]string{c.Devices[0].ID, c.Devices[1].ID, c.Devices[2].ID})
	assert.Contains(t, c.Devices[0].Reason, "signal 11")
	assert.Contains(t, c.Devices[1].Reason, "not an ELF file")
	assert.Empty(t, c.Devices[2].Reason)
	assert.Equal(t, 2, c.Devices[2].Number())

	again := List(o)[0]
	again.ProbeDevices(o)
	assert.Len(t, started, 2, "what came of it was kept")
	assert.Contains(t, again.Devices[0].Reason, "anynpu drivers --probe tries it again")
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(bad, later, later))
	List(o)[0].ProbeDevices(o)
	assert.Len(t, started, 3, "the plug-in has changed")
}

func TestList_runtimeByVariable(t *testing.T) {
	m := newMachine(t)
	dir, library := m.dir, m.library("libr.so", "int f;")
	manifest := filepath.Join(dir, "r.json")
	require.NoError(t, os.WriteFile(manifest, []byte(`{"schema": "anynpu.driver/1", "name": "r", "api": "onnxruntime",
		"library": "`+library+`"}`), 0o644))
	set := map[string]string{"ANYNPU_DRIVERS": manifest, "ANYNPU_ONNXRUNTIME": library}
	list := List(Options{Getenv: func(name string) string { return set[name] }})
	require.Len(t, list, 2)
	assert.Equal(t, "ANYNPU_ONNXRUNTIME", list[0].Source)
	assert.Equal(t, Usable, list[0].Status, list[0].Reason)
	assert.Equal(t, "onnxruntime", list[0].Devices[0].ID)
	assert.Equal(t, Skipped, list[1].Status)
	assert.Equal(t, "ANYNPU_ONNXRUNTIME names another", list[1].Reason)
	a, _ := Find(RuntimeAPI)
	for value, want := range map[string]Setting{"": Auto, "cpu": ToCPU, library: ToDevice, "auto": Auto} {
		set["ANYNPU_ONNXRUNTIME"] = value
		got, wrong := a.Set(func(name string) string { return set[name] })
		assert.Equal(t, want, got)
		assert.Empty(t, wrong)
	}
	set["ANYNPU_ONNXRUNTIME"] = "libr.so"
	_, wrong := a.Set(func(name string) string { return set[name] })
	assert.Equal(t, "libr.so", wrong)
}
