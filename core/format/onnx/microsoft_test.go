package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// What is not read of ONNX Runtime's own domains is refused at once, with the way out.
func TestImport_refusesTheRestOfMicrosoft(t *testing.T) {
	of := func(domain, op, in, out string) msg {
		return nodeMsg(op, []string{in}, []string{out}).str(7, domain)
	}
	ms := "com.microsoft"
	err := imported(t, modelMsg(graphMsg([]msg{of(ms, "BeamSearch", "x", "a"), of(ms, "Gelu", "a", "b"),
		of(ms, "BeamSearch", "b", "c"), of(ms+".nchwc", "ReorderInput", "c", "d"), of("", "Odd", "d", "y")},
		input("x", 2), output("y")), msg(nil).sub(8, msg(nil).str(1, ms).num(2, 1))), "")
	assert.EqualError(t, err, `operators that are not supported: Odd x 1 (node 4 (Odd)); com.microsoft.BeamSearch x 2 `+
		`(node 0 (com.microsoft.BeamSearch), node 2 (com.microsoft.BeamSearch)); com.microsoft.nchwc.ReorderInput x 1 `+
		`(node 3 (com.microsoft.nchwc.ReorderInput)); ONNX Runtime writes operators of com.microsoft when it saves an `+
		`optimized model, or quantizes in QOperator form: the model as it was before, or quantized in QDQ form, has none`)
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
}

// A constant that a foreign operator named Conv reads stays one of its inputs.
func TestImport_foreignConvHasItsFilter(t *testing.T) {
	w := mem.NewWeights()
	defer w.Release()
	node := nodeMsg("Conv", []string{"x", "w"}, []string{"y"}).str(7, "com.acme")
	data := modelMsg(graphMsg([]msg{node}, input("x", 1), msg(nil).sub(12, valueMsg("y", 1)),
		initial(tensorMsg("w", []int64{1, 1, 1}, []byte{0, 0, 128, 63}))))
	m, err := Import(data, Options{Weights: w})
	require.NoError(t, err)
	n := m.Graph.Nodes[0]
	require.IsType(t, &op.Custom{}, n.Op)
	require.Len(t, n.In, 2)
	assert.NotEqual(t, graph.None, n.In[1])
}
