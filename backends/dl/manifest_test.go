package dl

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// good is a manifest with every key; edit replaces values by JSON text, "" leaves the key out.
func good(t testing.TB, edit map[string]string) []byte {
	keys := map[string]string{"schema": `"anynpu.driver/1"`, "name": `"Vendor NPU"`, "api": `"rknn"`,
		"library": `"/opt/vendor/librknnrt.so"`, "mode": `"driver"`, "anynpu": `{"from": "0.1", "below": "2.0.0"}`,
		"environment": `{"BOARD": "x"}`}
	maps.Copy(keys, edit)
	out := map[string]json.RawMessage{}
	for k, v := range keys {
		if v != "" {
			out[k] = json.RawMessage(v)
		}
	}
	data, err := json.Marshal(out)
	require.NoError(t, err)
	return data
}

func TestParse_everyKey(t *testing.T) {
	m, err := Parse("/etc/a.json", good(t, nil))
	require.NoError(t, err)
	assert.Equal(t, &Manifest{File: "/etc/a.json", Name: "Vendor NPU", API: "rknn", Library: "/opt/vendor/librknnrt.so",
		Mode: ModeDriver, Least: "0.1", Below: "2.0.0", Environment: map[string]string{"BOARD": "x"}}, m)
	m, err = Parse("/etc/a.json", good(t, map[string]string{"mode": "", "anynpu": "", "environment": ""}))
	require.NoError(t, err)
	assert.Equal(t, &Manifest{File: "/etc/a.json", Name: "Vendor NPU", API: "rknn", Library: "/opt/vendor/librknnrt.so",
		Mode: ModeDriver}, m)
}

func TestParse_refusals(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":       {nil, "not a JSON object"},
		"no JSON":     {[]byte("library=/opt/lib.so\n"), "not a JSON object"},
		"a list":      {[]byte(`["rknn"]`), "not a JSON object"},
		"two objects": {[]byte(`{} {}`), "not a JSON object"},
		"cut short":   {good(t, nil)[:60], "not a JSON object"},
		"huge":        {[]byte("{" + strings.Repeat(" ", maxManifest) + "}"), "65538 bytes, want at most 65536"},
		"deep":        {[]byte(strings.Repeat(`{"a":`, 30000)), "bytes, want at most"},
		"unknown key": {good(t, map[string]string{"path": `"/x"`}), `unknown key "path": want anynpu, api,`},
		"upper case":  {good(t, map[string]string{"Name": `"x"`}), `unknown key "Name"`},
		"no schema":   {good(t, map[string]string{"schema": ""}), "schema: missing"},
		"other schema": {good(t, map[string]string{"schema": `"anynpu.driver/9"`}),
			`schema: "anynpu.driver/9": want "anynpu.driver/1"`},
		"empty name": {good(t, map[string]string{"name": `""`}), "name: missing or empty"},
		"null":       {good(t, map[string]string{"mode": "null"}), `mode: "null": want a string`},
		"number":     {good(t, map[string]string{"library": "7"}), `library: "7": want a string`},
		"relative": {good(t, map[string]string{"library": `"lib/librknnrt.so"`}),
			`library: "lib/librknnrt.so": want an absolute path`},
		"bare name": {good(t, map[string]string{"library": `"librknnrt.so"`}),
			`library: "librknnrt.so": want an absolute path`},
		"zero byte": {good(t, map[string]string{"library": `"/lib\u0000.so"`}), "want a path without zero bytes"},
		"other API": {good(t, map[string]string{"api": `"cuda"`}),
			`api: "cuda": want ohnn, rknn, hbdnn, hbucp, nnapi or onnxruntime`},
		"other mode":      {good(t, map[string]string{"mode": `"auto"`}), `mode: "auto": want driver or device`},
		"version":         {good(t, map[string]string{"anynpu": `{"from": "1.x"}`}), `anynpu.from: "1.x": want a version`},
		"long version":    {good(t, map[string]string{"anynpu": `{"below": "1.2.3.4"}`}), `anynpu.below: "1.2.3.4": want`},
		"version key":     {good(t, map[string]string{"anynpu": `{"max": "1"}`}), `anynpu: unknown key "max"`},
		"version is text": {good(t, map[string]string{"anynpu": `"1"`}), "want an object of strings"},
		"environment": {good(t, map[string]string{"environment": `{"A": 1}`}),
			`environment: "{\"A\":1}": want an object of strings`},
		"long value": {good(t, map[string]string{"api": `"` + strings.Repeat("x", 1000) + `"`}), `xxx...": want`},
	} {
		_, err := Parse("/etc/anynpu/drivers.d/a.json", c.data)
		require.Error(t, err, name)
		assert.ErrorContains(t, err, c.want, name)
		assert.Equal(t, fault.File, fault.KindOf(err), name)
		assert.Regexp(t, "^/etc/anynpu/drivers.d/a.json: ", err, name)
		assert.Less(t, len(err.Error()), 400, name)
	}
}

func TestManifest_appliesByVersionAndEnvironment(t *testing.T) {
	m := Manifest{Least: "0.2", Below: "1.0.0", Environment: map[string]string{"BOARD": "x", "NONE": ""}}
	for _, c := range []struct {
		version, board, none string
		want                 string
	}{
		{"0.2.0", "x", "", ""},
		{"0.10.3", "x", "", ""},
		{"0.1.9", "x", "", "this is version 0.1.9"},
		{"1.0.0", "x", "", "this is version 1.0.0"},
		{"0.2.0", "y", "", `BOARD is "y", and the manifest is for "x"`},
		{"0.2.0", "x", "set", `NONE is "set", and the manifest is for ""`},
	} {
		got := m.applies(func(name string) string { return map[string]string{"BOARD": c.board, "NONE": c.none}[name] },
			c.version)
		if c.want == "" {
			assert.Empty(t, got)
		} else {
			assert.Contains(t, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good(f, nil))
	for _, c := range []string{`{}`, `{"anynpu":{"from":"-1"}}`, `{"library":"/\ud800"}`, "[[[[",
		`{"name":"a","name":"b"}`} {
		f.Add([]byte(c))
	}
	f.Add(good(f, map[string]string{"anynpu": `{"from": "99999999999"}`}))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse("/f.json", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "/f.json: ") || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		if _, known := Find(m.API); !known || !filepath.IsAbs(m.Library) || m.Name == "" || m.Mode == "" ||
			strings.ContainsRune(m.Library, 0) {
			t.Fatalf("%+v", m)
		}
		m.applies(func(string) string { return "" }, "0.1.0")
	})
}
