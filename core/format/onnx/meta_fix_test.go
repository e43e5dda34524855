package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sizes of inputs that the metadata give, and a first one of 1, are there before anything is made of the inputs: an If
// on a size has one branch then, and a Squeeze without axes a result of known rank, which Softmax of opset 11 needs.
func TestImport_fixesSizesFirst(t *testing.T) {
	branch := func(name, op string) msg {
		return graphAttr(name, graphMsg([]msg{nodeMsg(op, []string{"q"}, []string{name})}, output(name)))
	}
	model := func(meta map[string]string) []byte {
		nodes := []msg{nodeMsg("Squeeze", []string{"x"}, []string{"r"}),
			nodeMsg("Softmax", []string{"r"}, []string{"q"}, numAttr("axis", 0)),
			nodeMsg("Shape", []string{"z"}, []string{"s"}),
			nodeMsg("Gather", []string{"s", "zero"}, []string{"d"}),
			nodeMsg("Equal", []string{"d", "one"}, []string{"c"}),
			nodeMsg("If", []string{"c"}, []string{"y"}, branch("then_branch", "Neg"), branch("else_branch", "Abs"))}
		number := func(name string, v int64) msg {
			return initial(msg(nil).num(2, 7).str(8, name).str(9, string(tensor.Int64s(v))))
		}
		graph := graphMsg(nodes, ofType(11, "x", 1, -1, 3), ofType(11, "z", 1, -1, 2), output("y"), number("zero", 0),
			number("one", 1))
		m := msg(nil).num(1, 9).sub(7, graph).sub(8, msg(nil).num(2, 11))
		for k, v := range meta {
			m = m.sub(14, msg(nil).str(1, k).str(2, v))
		}
		return m
	}
	import1 := func(meta map[string]string, fix bool) (*Model, error) {
		w := mem.NewWeights()
		t.Cleanup(w.Release)
		return Import(model(meta), Options{Weights: w, Fix: fix})
	}
	_, err := import1(nil, false)
	assert.ErrorContains(t, err, "rank is not known")
	for _, c := range []struct {
		meta   map[string]string
		x, z   tensor.Shape
		opened bool
		op     string
	}{
		{nil, tensor.Of(1, 3), tensor.Of(1, 2), true, "neg"},
		{map[string]string{"anynpu.input.x.shape": "[4,3]"}, tensor.Of(4, 3), tensor.Of(4, 2), false, "abs"},
		{map[string]string{"anynpu.input.x.shape": "[1,3]"}, tensor.Of(1, 3), tensor.Of(1, 2), false, "neg"},
		{map[string]string{"anynpu.dim.n": "5"}, tensor.Of(5, 3), tensor.Of(5, 2), false, "abs"},
		{map[string]string{"anynpu.input.x.shape": "[4,3]", "anynpu.input.z.shape": "[2,2]"}, tensor.Of(4, 3),
			tensor.Of(2, 2), false, "abs"},
	} {
		m, err := import1(c.meta, true)
		require.NoError(t, err, "%v", c.meta)
		assert.Equal(t, c.x, m.Graph.Fact(m.Graph.In[0]).Shape, "%v", c.meta)
		assert.Equal(t, c.z, m.Graph.Fact(m.Graph.In[1]).Shape, "%v", c.meta)
		assert.Equal(t, c.opened, m.Fixed["x"].Opened, "%v", c.meta)
		var names []string
		for _, n := range m.Graph.Nodes {
			names = append(names, n.Label())
		}
		assert.Contains(t, names, "operator 5 ("+c.op+")", "%v", c.meta)
	}
	w := mem.NewWeights()
	defer w.Release()
	below := func(*Names) map[string]string { return map[string]string{"anynpu.input.x.shape": "[4,3]"} }
	m, err := Import(model(nil), Options{Weights: w, Fix: true, Below: below})
	require.NoError(t, err)
	assert.Equal(t, tensor.Of(4, 2), m.Graph.Fact(m.Graph.In[1]).Shape, "what a compiled model's file says")
	_, err = import1(map[string]string{"anynpu.input.x.shapes": "[[1,3],[2,3]]"}, true)
	assert.ErrorContains(t, err, "rank is not known", "several sizes fix none")
}
