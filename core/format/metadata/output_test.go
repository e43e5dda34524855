package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

func TestSetKey_codes(t *testing.T) {
	two := 2
	for value, want := range map[string]Codes{
		`"int32"`:                               {Type: tensor.Int32},
		`"int16"`:                               {Type: tensor.Int16},
		`{"type": "int8"}`:                      {Type: tensor.Int8},
		`{"type":"int32","scale":0.5,"axis":2}`: {Type: tensor.Int32, Scale: []float32{0.5}, Axis: &two},
		`{"type":"int32","scale":[0.5, 0.25]}`:  {Type: tensor.Int32, Scale: []float32{0.5, 0.25}},
	} {
		m := &Metadata{}
		require.NoError(t, m.setKey("anynpu.output.a.b.codes", []byte(value), ""), value)
		require.NoError(t, m.setKey("anynpu.outputs.codes", []byte(value), ""), value)
		assert.Equal(t, want, *m.Outputs["a.b"].Codes, value)
		assert.Equal(t, want, *m.Codes, value)
		assert.Empty(t, m.Warnings)
	}
	for _, value := range []string{`"uint8"`, `""`, "3", "true", `{}`, `{"type": "int4"}`, `{"type":"int8","zero":1}`,
		`{"type":"int8","scale":0}`, `{"type":"int8","scale":[1,-2]}`, `{"type":"int8","scale":"a"}`} {
		m := &Metadata{}
		assert.Error(t, m.setKey("anynpu.outputs.codes", []byte(value), ""), value)
		assert.Nil(t, m.Codes, value)
	}
}

func TestSetKey_orderOfOutputs(t *testing.T) {
	m := &Metadata{}
	require.NoError(t, m.setKey("anynpu.output.y.layout", []byte(`"NHWC"`), ""))
	require.NoError(t, m.setKey("anynpu.output.y.native", []byte(`"nchw"`), ""))
	assert.Equal(t, Output{Layout: "nhwc", Native: "nchw"}, m.Outputs["y"])
	assert.Error(t, m.setKey("anynpu.output.y.layout", []byte(`"chw"`), ""))
	assert.Equal(t, "outputs.codes", Near("outputs.code"))
}
