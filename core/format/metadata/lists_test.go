package metadata

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Lists without brackets are lists, in the model and in the file beside it.
func TestSetKey_listsWithoutBrackets(t *testing.T) {
	for _, text := range []string{"[1, 2, 3]", `"1,2,3"`, `"1, 2, 3"`, `"[1,2,3]"`} {
		m := &Metadata{Inputs: map[string]Input{}}
		for _, field := range []string{"mean", "std", "scale", "shape"} {
			assert.NoError(t, m.setKey("anynpu.input.x."+field, []byte(text), ""), "%s %s", field, text)
		}
		in := m.Inputs["x"]
		assert.Equal(t, [][]float32{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, [][]float32{in.Mean, in.Std, in.Scale})
		assert.Equal(t, []int64{1, 2, 3}, in.Shape)
	}
}

// A value that is none says which form is wanted, in words of this project.
func TestSetKey_wrongValuesSayTheForm(t *testing.T) {
	for key, want := range map[string]string{"input.x.mean": "as [1.5, 2, 3]", "input.x.shape": "as [1, 3, 224, 224]",
		"input.x.shapes": "as [[1, 3, 224, 224]]", "input.x.planes": "a whole number", "dim.N": "a whole number",
		"value.v.stored": "want", "input.x.layout": "want", "compiled": "a list of objects"} {
		for _, value := range []string{`"a,b"`, `{"a": [1]}`, "true", `[{"a": 1}]`, `""`} {
			m := &Metadata{Inputs: map[string]Input{}}
			err := m.setKey("anynpu."+key, []byte(value), "")
			assert.ErrorContains(t, err, want, "%s %s", key, value)
			if err != nil {
				assert.NotRegexp(t, "unmarshal|json:|Go |invalid character", err.Error())
			}
		}
	}
}

// A message tells a wrong value once, and of a long one the beginning.
func TestSet_tellsAWrongValueOnce(t *testing.T) {
	m := &Metadata{Inputs: map[string]Input{}}
	for text, n := range map[string]int{`"wide"`: 1, `"` + strings.Repeat("wide", 1<<16) + `"`: 49} {
		err := m.set(map[string]json.RawMessage{"anynpu.input.x.mean": []byte(text)}, "model")
		if assert.ErrorContains(t, err, `model: anynpu.input.x.mean: "wide`) {
			assert.Equal(t, n, strings.Count(err.Error(), "wide"))
		}
	}
}
