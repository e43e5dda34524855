package watch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/record"
)

// TestLoaded_bytes: a model that a program gives as bytes goes by its graph and the first digits that sha256sum gives.
func TestLoaded_bytes(t *testing.T) {
	var got []record.Model
	model.Loaded = func(m *model.Model) { got = append(got, loaded(m)) }
	t.Cleanup(func() { model.Loaded = nil })
	bytes := new(onnxtest.Model).Input("x", onnxtest.Float, 2).Node("Relu", "y", "x").Output("y", onnxtest.Float,
		2).Bytes()
	w := mem.NewWeights()
	defer w.Release()
	m, err := model.Load(model.Source{Data: bytes}, model.Options{Weights: w})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Len(t, m.Digest, 64)
	assert.Equal(t, record.Model{Name: m.Graph.Name + " bytes " + m.Digest[:12], Bytes: int64(len(bytes))}, got[0])
	assert.NotEmpty(t, m.Graph.Name)
	own := *m
	own.Digest, own.Path = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "net.onnx"
	own.Instead = &model.Instead{Name: "3 bytes"}
	assert.Equal(t, record.Model{Name: "net.onnx", Bytes: int64(len(bytes)), Instead: "bytes ba7816bf8f01"}, loaded(&own))
}
