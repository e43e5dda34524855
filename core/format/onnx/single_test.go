package onnx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Dimensions that tools name ?, None, -1 or not at all are sizes of their own each: 1 x 3 x 4 x 6 is taken.
func TestImport_placeholdersAreNoNames(t *testing.T) {
	for _, name := range []string{"?", "None", "-1", ""} {
		shape := msg(nil)
		for range 3 {
			shape = shape.sub(1, msg(nil).str(2, name))
		}
		shape = shape.sub(1, msg(nil).str(2, "N"))
		in := msg(nil).sub(11, msg(nil).str(1, "x").sub(2, msg(nil).sub(1, msg(nil).num(1, 1).sub(2, shape))))
		w := mem.NewWeights()
		m, err := Import(modelMsg(graphMsg([]msg{nodeMsg("Relu", []string{"x"}, []string{"y"})}, in, output("y"))),
			Options{Weights: w})
		require.NoError(t, err)
		assert.Equal(t, []string{"N"}, m.Symbols, "%q", name)
		x := tensor.New(tensor.Float32, 1, 3, 4, 6)
		_, err = ref.Run(context.Background(), m.Graph, []tensor.Tensor{x})
		assert.NoError(t, err, "%q", name)
		w.Release()
	}
}
