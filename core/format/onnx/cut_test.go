package onnx_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/mem"
)

// branches has two inputs and two outputs: a -> b, b and d -> e; behind e an operator that is not supported.
func branches() *onnxtest.Model {
	return (&onnxtest.Model{}).Node("Neg", "b", "a").Node("Add", "e", "b", "d").Node("MadeUp", "z", "e").
		Input("a", onnxtest.Float, 2).Input("d", onnxtest.Float, 2).
		Output("b", onnxtest.Float, 2).Output("z", onnxtest.Float, 2)
}

func TestImport_cut(t *testing.T) {
	for _, c := range []struct {
		in, out   string
		ins, out1 []string
		nodes     int
	}{
		{"", `["e", "b"]`, []string{"a", "d"}, []string{"e", "b"}, 2},
		{`["b"]`, `["e"]`, []string{"b", "d"}, []string{"e"}, 1},
		{`["d", "b"]`, `["e"]`, []string{"d", "b"}, []string{"e"}, 1},
		{`["a"]`, `["b"]`, []string{"a"}, []string{"b"}, 1},
	} {
		m := branches().Meta("anynpu.outputs", c.out)
		if c.in != "" {
			m.Meta("anynpu.inputs", c.in).Meta("anynpu.input.b.shape", "[2]")
		}
		w := mem.NewWeights()
		defer w.Release()
		got, err := onnx.Import(m.Bytes(), onnx.Options{Weights: w})
		require.NoError(t, err, c)
		g := got.Graph
		var ins, outs []string
		for _, v := range g.In {
			ins = append(ins, g.Values[v].Name)
			assert.Equal(t, "[2]", g.Fact(v).Shape.String())
		}
		for _, v := range g.Out {
			outs = append(outs, g.Values[v].Name)
		}
		assert.Equal(t, c.ins, ins)
		assert.Equal(t, c.out1, outs)
		assert.Len(t, g.Nodes, c.nodes)
	}
	for key, value := range map[string]string{"anynpu.outputs": `["nothing"]`, "anynpu.inputs": `["nothing"]`} {
		w := mem.NewWeights()
		defer w.Release()
		_, err := onnx.Import(branches().Meta(key, value).Bytes(), onnx.Options{Weights: w})
		assert.Equal(t, fault.File, fault.KindOf(err))
		assert.ErrorContains(t, err, `the model has no value "nothing"`)
	}
}
