package dl

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// Schema is the value of a manifest's key "schema".
const Schema = "anynpu.driver/1"

// maxManifest bounds the bytes of a manifest.
const maxManifest = 64 << 10

// Parse reads a manifest. Errors have the kind fault.File and name file, key and value.
func Parse(file string, data []byte) (*Manifest, error) {
	bad := func(format string, args ...any) (*Manifest, error) {
		return nil, fault.New(fault.File, file+": "+format, args...)
	}
	if len(data) > maxManifest {
		return bad("%d bytes, want at most %d", len(data), maxManifest)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return bad("not a JSON object: %v", err)
	}
	if string(keys["schema"]) == `"`+RemoteSchema+`"` {
		return parseRemote(file, keys)
	}
	m := &Manifest{File: file, Mode: ModeDriver}
	schema, mode, versions := "", "", map[string]string{}
	known := map[string]any{"schema": &schema, "name": &m.Name, "api": &m.API, "library": &m.Library, "mode": &mode,
		"anynpu": &versions, "environment": &m.Environment, "devices": &m.Devices}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		into := known[key]
		if into == nil {
			return bad("unknown key %s: want %s", short(key), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err := json.Unmarshal(keys[key], into); err != nil || string(keys[key]) == "null" {
			return bad("%s: %s: want %s", key, short(string(keys[key])), kindOf(into))
		}
	}
	for _, key := range []string{"schema", "name", "api", "library"} {
		if *known[key].(*string) == "" {
			return bad("%s: missing or empty", key)
		}
	}
	switch {
	case schema != Schema:
		return bad("schema: %s: want %q or %q", short(schema), Schema, RemoteSchema)
	case !slices.ContainsFunc(APIs, func(a API) bool { return a.Name == m.API }):
		return bad("api: %s: want %s", short(m.API), apiNames())
	case !filepath.IsAbs(m.Library):
		return bad("library: %s: want an absolute path", short(m.Library))
	case strings.ContainsRune(m.Library, 0):
		return bad("library: %s: want a path without zero bytes", short(m.Library))
	case mode != "" && mode != string(ModeDriver) && mode != string(ModeDevice):
		return bad("mode: %s: want driver or device", short(mode))
	}
	if mode != "" {
		m.Mode = Mode(mode)
	}
	if err := m.versions(versions); err != nil {
		return nil, err
	}
	if why := m.providers(keys["devices"], mode); why != "" {
		return bad("%s", why)
	}
	return m, nil
}

// kindOf says what a key's value has to be.
func kindOf(into any) string {
	switch into.(type) {
	case *string:
		return "a string"
	case *[]Device:
		return "a list of objects"
	}
	return "an object of strings"
}

// applies says why the manifest does not count here: its environment or its range of versions; "" if it does.
func (m *Manifest) applies(getenv func(string) string, version string) string {
	for _, name := range slices.Sorted(maps.Keys(m.Environment)) {
		if want, got := m.Environment[name], getenv(name); got != want {
			return fmt.Sprintf("environment: %s is %q, and the manifest is for %q", name, got, want)
		}
	}
	if m.Least != "" && versionLess(version, m.Least) || m.Below != "" && !versionLess(version, m.Below) {
		return fmt.Sprintf("anynpu: this is version %s, and the manifest is for versions from %q to below %q", version,
			m.Least, m.Below)
	}
	return ""
}
