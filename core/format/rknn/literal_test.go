package rknn

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLiteral_values(t *testing.T) {
	for text, want := range map[string]any{
		"None": nil, "True": true, " False ": false, "12": 12.0, "-1.5e3": -1500.0, "1_000": 1000.0,
		"'a'": "a", `"it's"`: "it's", `'\x41\n\u00e9\q'`: "A\né\\q",
		"-inf": math.Inf(-1), "[]": []any{}, "(1,)": []any{1.0}, "[1, (2, 'x')]": []any{1.0, []any{2.0, "x"}},
		"{}":                           map[string]any{},
		"{'a': 1, 2: [3], 'a': 4,}":    map[string]any{"a": 4.0, "2": []any{3.0}},
		"array([1, 2], dtype=float32)": []any{1.0, 2.0},
		"{'m': np.float32(0.5), 'n': np.array([[1.]])}":   map[string]any{"m": 0.5, "n": []any{[]any{1.0}}},
		"OrderedDict({'x': None})":                        map[string]any{"x": nil},
		strings.Repeat("[", 30) + strings.Repeat("]", 30): nested(30),
	} {
		got, err := literal(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	v, err := literal("nan")
	require.NoError(t, err)
	assert.True(t, math.IsNaN(v.(float64)))
}

func nested(n int) any {
	v := []any{}
	for range n - 1 {
		v = []any{v}
	}
	return v
}

func TestLiteral_refused(t *testing.T) {
	for _, text := range []string{
		"", "[", "{", "{'a'", "{'a': ", "{'a' 1}", "[1 2]", "'", `'\`, `'\x4`, "1 2", "--1", "1e",
		"word", "f(", "f([1], [2])", "{1: 2", "=", "\x00",
		strings.Repeat("[", 40),
	} {
		_, err := literal(text)
		assert.Error(t, err, text)
	}
}

func FuzzLiteral(f *testing.F) {
	for _, text := range []string{"{'attrs': {'x': {'mean': [1.5]}}}", "[array([1]), -inf, None]", `'\x41'`} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { _, _ = literal(text) })
}
