package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// evil holds characters that a terminal obeys: escape sequences, their C1 form, DEL, marks that turn the direction of
// text, line ends.
const evil = "\x1b[31m\u009b2J\x7f\u202e\u2066\r\n"

// evilModel is y = x + x, or op(x, x), with evil in every name.
func evilModel(t *testing.T, op string) string {
	str := func(num byte, s string) string { return string([]byte{num<<3 | 2, byte(len(s))}) + s }
	value := func(name string) string {
		return str(1, name) + str(2, str(1, "\x08\x01"+str(2, str(1, "\x08\x02"))))
	}
	node := str(1, evil+"x") + str(1, evil+"x") + str(2, evil+"y") + str(3, evil+"node") + str(4, op)
	graph := str(1, node) + str(2, evil+"graph") + str(11, value(evil+"x")) + str(12, value(evil+"y"))
	meta := str(14, str(1, evil+"key")+str(2, evil+"value"))
	path := filepath.Join(t.TempDir(), "evil.onnx")
	require.NoError(t, os.WriteFile(path, []byte("\x08\x08"+str(2, evil+"test")+string(byte(7<<3|2))+varint(len(graph))+
		graph+str(8, "\x10\x11")+meta), 0o600))
	return path
}

func varint(n int) string {
	if n < 0x80 {
		return string([]byte{byte(n)})
	}
	return string([]byte{byte(n) | 0x80, byte(n >> 7)})
}

func TestPrintf_namesOfFilesReachNoTerminal(t *testing.T) {
	good, bad, badName := evilModel(t, "Add"), evilModel(t, "Foo"), evilModel(t, "Foo"+evil)
	saved := t.TempDir()
	x := writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{2}, Data: tensor.Float32s(1, 2)})
	t.Setenv("ANYNPU_EVIL", evil)
	t.Setenv("ANYNPU_LOG", evil)
	for _, args := range [][]string{
		{"inspect", good}, {"inspect", "--json", good}, {"inspect", bad}, {"inspect", badName},
		{"run", "-i", x, good}, {"run", "--json", "-i", x, good}, {"run", "-i", x, "-o", saved, good},
		{"run", "-i", x, "--expect", x, good}, {"run", good}, {"run", badName}, {"run", "-i", "nothing=" + good, good},
		{"check", good}, {"check", "--json", good}, {"check", bad}, {"check", badName}, {"check", "--engine", good},
		{"metadata", good}, {"metadata", "--json", good}, {"metadata", bad, "dim." + evil + "=1"},
		{"bench", "--runs", "3", good}, {"profile", good}, {"profile", "--json", good}, {"profile", badName},
		{"info"}, {"info", "--json"},
	} {
		_, out, err := anynpu(args...)
		require.NotEmpty(t, out+err, args)
		for _, r := range strings.ReplaceAll(out+err, "\r\033[K", "") {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%v: %q in\n%q", args, r, out+err)
				break
			}
		}
		assert.True(t, utf8.ValidString(out+err), args)
		if len(args) > 1 && args[1] == "--json" && out != "" {
			var v any
			require.NoError(t, json.Unmarshal([]byte(out), &v), args)
			assert.Contains(t, flatten(v), evil, args)
		}
	}
	_, out, _ := anynpu("inspect", good)
	assert.Contains(t, out, `\x1b[31m\u009b2J\x7f\u202e\u2066\r\nx`)
}

// flatten returns all strings of a JSON value, in one.
func flatten(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(flatten(e))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for k, e := range v {
			b.WriteString(k + flatten(e))
		}
		return b.String()
	}
	return ""
}

// Text is written by printf alone.
func TestPrintf_alone(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") && file != "print.go" {
			for _, other := range []string{"fmt.Fprint", "fmt.Print", "io.WriteString", "json.NewEncoder"} {
				assert.False(t, strings.Contains(string(text), other), "%s: %s", file, other)
			}
		}
	}
}
