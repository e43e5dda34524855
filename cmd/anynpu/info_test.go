package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec"
	"github.com/anynpu/anynpu/internal/environ"
)

// schema is the part of JSON Schema that the tool's schemas use.
type schema struct {
	Schema      string             `json:"$schema"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Type        types              `json:"type"`
	Enum        []string           `json:"enum"`
	Additional  *additional        `json:"additionalProperties"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
	Items       *schema            `json:"items"`
}

// additional is what members may be that are not among the properties: any, none, or what a schema says.
type additional struct {
	none bool
	are  *schema
}

func (a *additional) UnmarshalJSON(text []byte) error {
	var any bool
	if json.Unmarshal(text, &any) == nil {
		a.none = !any
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(&a.are)
}

// faults returns where v is not as the schema says.
func (s *schema) faults(at string, v any) (out []string) {
	fault := func(format string, args ...any) { out = append(out, at+": "+fmt.Sprintf(format, args...)) }
	switch v := v.(type) {
	case map[string]any:
		if !s.Type.has("object") {
			fault("an object, want %s", s.Type)
			break
		}
		for _, name := range s.Required {
			if _, there := v[name]; !there {
				fault("%s is missing", name)
			}
		}
		for name, member := range v {
			if p := s.Properties[name]; p != nil {
				out = append(out, p.faults(at+"."+name, member)...)
			} else if s.Additional != nil && s.Additional.none {
				fault("%s is not known", name)
			} else if s.Additional != nil && s.Additional.are != nil {
				out = append(out, s.Additional.are.faults(at+"."+name, member)...)
			}
		}
	case []any:
		if !s.Type.has("array") {
			fault("an array, want %s", s.Type)
			break
		}
		for i, item := range v {
			out = append(out, s.Items.faults(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	case string:
		if !s.Type.has("string") || s.Enum != nil && !slices.Contains(s.Enum, v) {
			fault("%q, want %s %v", v, s.Type, s.Enum)
		}
	case bool:
		if !s.Type.has("boolean") {
			fault("%v, want %s", v, s.Type)
		}
	case float64:
		if !s.Type.has("number") && (!s.Type.has("integer") || v != float64(int64(v))) {
			fault("%v, want %s", v, s.Type)
		}
	case nil:
		if !s.Type.has("null") {
			fault("null, want %s", s.Type)
		}
	default:
		fault("%v, want %s", v, s.Type)
	}
	return out
}

// types are the types of JSON that a value may have: a name, or a list of names.
type types []string

func (t *types) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*[]string)(t)); err == nil {
		return nil
	}
	*t = types{""}
	return json.Unmarshal(text, &(*t)[0])
}

func (t types) has(name string) bool { return slices.Contains(t, name) }

// readSchema reads a schema file; words that this part lacks are an error.
func readSchema(t *testing.T, path string) *schema {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	var s schema
	require.NoError(t, d.Decode(&s))
	return &s
}

func TestInfo_fitsItsSchema(t *testing.T) {
	t.Setenv("ANYNPU_THREDS", "4")
	t.Setenv("ANYNPU_THREADS", "3")
	t.Setenv("ANYNPU_CPU_ISA", "generic")
	code, out, errs := anynpu("info", "--json")
	require.Equal(t, 0, code, errs)
	var v any
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	s := readSchema(t, "../../docs/info.schema.json")
	assert.Empty(t, s.faults("", v))

	var i info
	require.NoError(t, json.Unmarshal([]byte(out), &i))
	assert.Contains(t, i.Unknown, environ.Unknown{Name: "ANYNPU_THREDS", Value: "4", Nearest: "ANYNPU_THREADS"})
	assert.Contains(t, i.Set, environ.Setting{Name: "ANYNPU_THREADS", Value: "3"})
	assert.Equal(t, 3, i.Processor.Threads)
	assert.Equal(t, "generic", i.Processor.Level)
	require.Len(t, i.APIs, len(spec.APIs))
	for n, f := range spec.APIs {
		assert.Equal(t, f.Name, i.APIs[n].Name)
		assert.Len(t, i.APIs[n].Libraries, max(1, len(f.Sonames)), f.Name)
	}

	v.(map[string]any)["devices"].([]any)[0].(map[string]any)["cores"] = "none"
	delete(v.(map[string]any), "version")
	assert.Len(t, s.faults("", v), 2, "a document that does not fit")
}

func TestInfo_namesWhatNothingReads(t *testing.T) {
	t.Setenv("ANYNPU_THREDS", "4")
	code, out, errs := anynpu("info")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "ANYNPU_THREDS=4: nothing reads this; did you mean ANYNPU_THREADS?")
	assert.Contains(t, out, "librknnrt.so")
}

func TestInfo_namesValuesThatMeanNothing(t *testing.T) {
	t.Setenv("ANYNPU_CPU", "slow")
	t.Setenv("ANYNPU_MEMORY_LIMIT", "lots")
	code, out, errs := anynpu("info")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "environment cpu: value ignored ANYNPU_CPU=slow want=\"auto or ref\" "+
		"[device-setting-ignored]\n")
	assert.Contains(t, out, "environment cpu: value ignored ANYNPU_MEMORY_LIMIT=lots want=")
}

func TestInfo_summaryAndPage(t *testing.T) {
	t.Setenv("ANYNPU_THREDS", "<4>")
	t.Setenv("ANYNPU_THREADS", "3")
	code, out, errs := anynpu("info", "--summary")
	require.Equal(t, 0, code, errs)
	assert.Regexp(t, `^AnyNPU \S+ on .*, a\w+64: kernels \S+, 3 threads\ndevices     cpu\nlibraries   \d+ of \d+ names `+
		`lead programs here\ndrivers     .* used, \d+ found\nenvironment \d+ variables? set, 1 that nothing reads, 0 values `+
		`ignored\n$`, out)
	file := filepath.Join(t.TempDir(), "info.html")
	code, out, errs = anynpu("info", "--html", file)
	require.Equal(t, 0, code, errs)
	assert.Empty(t, out)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(page), "<code>ANYNPU_THREDS=&lt;4&gt;</code>: nothing reads this")
	for _, name := range sonames("") {
		assert.Contains(t, string(page), "<code>"+name+"</code>")
	}
	code, _, _ = anynpu("info", "--summary", "--json")
	assert.Equal(t, exitUsage, code)
	code, _, _ = anynpu("info", "--html", t.TempDir())
	assert.Equal(t, exitRun, code)
}
