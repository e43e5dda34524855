package lowering

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// TestFused_withinTheCodes: an activation whose range holds all codes of the result is no node of its own.
func TestFused_withinTheCodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		typ   nnapi.OperandCode
		scale float32
		zero  int32
		fused uint32
		nodes []string
	}{
		{"relu6 of all codes", nnapi.TensorQuant8Asymm, 6. / 255, 0, nnapi.FusedReLU6, []string{"add"}},
		{"relu6 of larger ones too", nnapi.TensorQuant8Asymm, 6.1 / 255, 0, nnapi.FusedReLU6, []string{"add", "clip"}},
		{"relu6 of negative ones too", nnapi.TensorQuant8Asymm, 5. / 255, 1, nnapi.FusedReLU6, []string{"add", "clip"}},
		{"relu", nnapi.TensorQuant8Asymm, 0.5, 0, nnapi.FusedReLU, []string{"add"}},
		{"relu of negative ones too", nnapi.TensorQuant8Asymm, 0.5, 1, nnapi.FusedReLU, []string{"add", "relu"}},
		{"relu of int8", nnapi.TensorQuant8AsymmSigned, 0.5, -128, nnapi.FusedReLU, []string{"add"}},
		{"relu1 of int8", nnapi.TensorQuant8AsymmSigned, 1. / 128, 0, nnapi.FusedReLU1, []string{"add"}},
		{"relu1 of larger ones", nnapi.TensorQuant8AsymmSigned, 1. / 64, 0, nnapi.FusedReLU1, []string{"add", "clip"}},
		{"relu of real numbers", nnapi.TensorFloat32, 0, 0, nnapi.FusedReLU, []string{"add", "relu"}},
		{"none", nnapi.TensorQuant8Asymm, 0.5, 1, nnapi.FusedNone, []string{"add"}},
	} {
		x := nnapi.Operand{Type: c.typ, Dims: []uint32{2}, Scale: c.scale, ZeroPoint: c.zero, Lifetime: nnapi.Input}
		y, z := x, x
		z.Lifetime = nnapi.Output
		m := &nnapi.Model{Operands: []nnapi.Operand{x, y, {Type: nnapi.Int32, Lifetime: nnapi.Constant,
			Data: binary.NativeEndian.AppendUint32(nil, c.fused)}, z}, Inputs: []uint32{0, 1}, Outputs: []uint32{3},
			Operations: []nnapi.Operation{{Code: nnapi.Add, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}}
		g, err := Graph(m)
		require.NoError(t, err, c.name)
		var nodes []string
		for i := range g.Nodes {
			nodes = append(nodes, graph.NameOf(g.Nodes[i].Op))
		}
		assert.Equal(t, c.nodes, nodes, c.name)
	}
}
