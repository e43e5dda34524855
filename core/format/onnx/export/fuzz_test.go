package export_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// A graph whose operators accept what they get is exported or refused, and what is written can be read: as a model, or
// with a reason other than a broken file.
func FuzzOf(f *testing.F) {
	seed := func(g *graph.Graph) {
		var b bytes.Buffer
		if graph.Encode(&b, g, graph.EncodeOptions{}) == nil && b.Len() < 1<<14 {
			f.Add(b.Bytes(), false)
		}
	}
	for i, c := range opcase.All() {
		if g, _, err := c.Graph(); err == nil && i%3 == 0 {
			seed(g)
		}
	}
	cases, err := graphs.Cases()
	require.NoError(f, err)
	for _, c := range cases[:40] {
		seed(c.Graph)
	}
	f.Fuzz(func(t *testing.T, data []byte, nearest bool) {
		g, err := graph.Decode(data, graph.DecodeOptions{Const: func(_ tensor.Hash, data []byte, _ int64) ([]byte, error) {
			return bytes.Clone(data), nil
		}})
		if err != nil || g.Validate() != nil || len(g.Nodes) > 64 || g.Infer() != nil {
			t.Skip()
		}
		m, err := export.Of(g, export.Options{QuantizeLinear: nearest})
		if err != nil {
			require.NotEqual(t, fault.Internal, fault.KindOf(err), "%v", err)
			return
		}
		file, err := m.Bytes()
		require.NoError(t, err)
		w := mem.NewWeights()
		defer w.Release()
		if _, err = onnx.Import(file, onnx.Options{Weights: w}); err != nil {
			require.NotEqual(t, fault.File, fault.KindOf(err), "%v", err)
			require.NotEqual(t, fault.Internal, fault.KindOf(err), "%v", err)
		}
	})
}
