package metadata

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNear_table(t *testing.T) {
	for key, want := range map[string]string{
		"input.image.meen":          "input.image.mean",
		"inputs.image.mean":         "input.image.mean",
		"anynpu.inptu.a.b.sacle":    "anynpu.input.a.b.scale",
		"anynpu.value.y.stord":      "anynpu.value.y.stored",
		"input.mean":                "input.NAME.mean",
		"dims.batch":                "dim.batch",
		"dim":                       "dim.NAME",
		"nmae":                      "name",
		"custom-string":             "custom_string",
		"anynpu.outpts":             "anynpu.outputs",
		"author":                    "",
		"anynpu.speed":              "",
		"":                          "",
		".":                         "",
		"input.x.":                  "",
		strings.Repeat("a.", 40000): "",
	} {
		assert.Equal(t, want, Near(key), "%.40s", key)
	}
	m, err := Read(map[string]string{"anynpu.input.x.layuot": "nchw", "anynpu.speed": "3"}, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"metadata: unknown key anynpu.input.x.layuot; did you mean anynpu.input.x.layout?",
		"metadata: unknown key anynpu.speed"}, m.Warnings)
}

func TestMistakes_closedForms(t *testing.T) {
	for pair, want := range map[[2]string]int{{"mean", "mean"}: 0, {"meen", "mean"}: 1, {"maen", "mean"}: 1,
		{"men", "mean"}: 1, {"meaan", "mean"}: 1, {"mene", "mean"}: 2, {"zzzz", "mean"}: 100, {"", "mean"}: 100} {
		assert.Equal(t, want, mistakes(pair[0], pair[1]), pair)
	}
}
