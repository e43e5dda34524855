package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/abi/abicheck/spec"
)

const include = "../../../include"

// languages are the compilers and standards a program may use.
var languages = []struct{ compiler, language, standard string }{
	{"gcc", "c", "c11"},
	{"gcc", "c", "c2x"},
	{"g++", "c++", "c++11"},
	{"g++", "c++", "c++20"},
}

func ohnn(t *testing.T) *spec.Spec {
	s, err := spec.Read("ohnn.json")
	require.NoError(t, err)
	return s
}

// compile returns what the compiler says about text, "" if it accepts it.
func compile(t *testing.T, compiler, language, standard string, text []byte) string {
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("%s is not installed", compiler)
	}
	file := filepath.Join(t.TempDir(), "abi.c")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	out, err := exec.Command(compiler, "-x", language, "-std="+standard, "-Wall", "-Wextra", "-Werror",
		"-I", include, "-fsyntax-only", file).CombinedOutput()
	if err != nil {
		require.NotEmpty(t, out, "%s: %v", compiler, err)
	}
	return string(out)
}

func TestGenerate_committedFileIsCurrent(t *testing.T) {
	committed, err := os.ReadFile("../../../ctest/abi/zohnn_abi.c")
	require.NoError(t, err)
	assert.Equal(t, string(committed), string(generate(ohnn(t), "ohnn.json")), "run make generate")
}

func TestGenerate_headersAgree(t *testing.T) {
	for _, l := range languages {
		t.Run(l.standard, func(t *testing.T) {
			assert.Empty(t, compile(t, l.compiler, l.language, l.standard, generate(ohnn(t), "ohnn.json")))
		})
	}
}

func TestGenerate_disagreementDoesNotCompile(t *testing.T) {
	enumOf := func(s *spec.Spec, name string) *spec.Enum {
		for i := range s.Enums {
			if s.Enums[i].Name == name {
				return &s.Enums[i]
			}
		}
		require.Fail(t, "no such enum", name)
		return nil
	}
	cases := map[string]func(s *spec.Spec){
		"value":      func(s *spec.Spec) { enumOf(s, "OH_NN_TensorType").Values[162].Value++ },
		"enum size":  func(s *spec.Spec) { enumOf(s, "OH_NN_ReturnCode").Size = 8 },
		"fuse size":  func(s *spec.Spec) { enumOf(s, "OH_NN_FuseType").Size = 4 },
		"missing":    func(s *spec.Spec) { enumOf(s, "OH_NN_Format").Values[0].Name = "OH_NN_FORMAT_NOWHERE" },
		"size":       func(s *spec.Spec) { s.Structs[2].Size = 40 },
		"alignment":  func(s *spec.Spec) { s.Structs[2].Align = 4 },
		"offset":     func(s *spec.Spec) { s.Structs[1].Fields[3].Offset++ },
		"field type": func(s *spec.Spec) { s.Structs[1].Fields[2].Type = "const float *" },
		"array":      func(s *spec.Spec) { s.Structs[4].Fields[0].Array = 64 },
		"callback":   func(s *spec.Spec) { s.Callbacks[1].Parameters = "int userData" },
		"parameter": func(s *spec.Spec) {
			s.Functions[0].C = "OH_NN_ReturnCode OH_NNDevice_GetAllDevicesID(const uint32_t **ids, uint32_t *count)"
		},
		"result": func(s *spec.Spec) {
			s.Functions[0].C = "void OH_NNDevice_GetAllDevicesID(const size_t **a, uint32_t *b)"
		},
	}
	for name, change := range cases {
		for _, l := range []int{0, 2} {
			t.Run(name+" "+languages[l].standard, func(t *testing.T) {
				s := ohnn(t)
				change(s)
				assert.NotEmpty(t, compile(t, languages[l].compiler, languages[l].language, languages[l].standard,
					generate(s, "ohnn.json")))
			})
		}
	}
}

// The headers declare nothing that the spec does not list.
func TestSpec_isComplete(t *testing.T) {
	s := ohnn(t)
	listed := map[string]bool{}
	for _, e := range s.Enums {
		for _, v := range e.Values {
			listed[v.Name] = true
		}
	}
	for _, f := range s.Functions {
		listed[f.Name()] = true
	}
	headers, err := filepath.Glob(include + "/neural_network_runtime/*.h")
	require.NoError(t, err)
	comment := regexp.MustCompile(`(?s)/\*.*?\*/`)
	declared := regexp.MustCompile(`\b(OH_NN_[A-Z0-9_]+) = |\b(OH_NN\w+)\(`)
	found := map[string]bool{}
	for _, h := range headers {
		text, err := os.ReadFile(h)
		require.NoError(t, err)
		for _, m := range declared.FindAllSubmatch(comment.ReplaceAll(text, nil), -1) {
			name := string(m[1]) + string(m[2])
			found[name] = true
			assert.True(t, listed[name], "%s: %s is not in the spec", filepath.Base(h), name)
		}
	}
	assert.Len(t, found, len(listed))
}

func TestReadSpec_refusesNonsense(t *testing.T) {
	cases := map[string]func(s *spec.Spec){
		"no headers":      func(s *spec.Spec) { s.Headers = nil },
		"no functions":    func(s *spec.Spec) { s.Functions = nil },
		"value twice":     func(s *spec.Spec) { s.Enums[0].Values[1].Name = s.Enums[0].Values[0].Name },
		"field order":     func(s *spec.Spec) { s.Structs[0].Fields[1].Offset = 0 },
		"field outside":   func(s *spec.Spec) { s.Structs[0].Fields[1].Offset = 16 },
		"function twice":  func(s *spec.Spec) { s.Functions[1] = s.Functions[0] },
		"not a prototype": func(s *spec.Spec) { s.Functions[0].C = "OH_NNDevice_GetName" },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			s := ohnn(t)
			change(s)
			assert.Error(t, s.Validate())
		})
	}
}
