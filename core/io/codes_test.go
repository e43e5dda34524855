package io

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/tensor"
)

// A result of real numbers becomes codes, ties to even, saturated, from every type of real numbers.
func TestExecution_encode(t *testing.T) {
	codes := &convert.Codes{Of: []convert.Code{{Scale: 0.5}, {Scale: 2}}, Inner: 2}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16} {
		real := []float32{0.25, 0.75, 3, -5, 20000, -20000, 0, float32(math.NaN())}
		src := make([]byte, len(real)*d.Bits()/8)
		convert.Put(src, d, real, true)
		r := &result{port: Port{Tensor: &convert.Tensor{Type: d}, Dims: []int64{2, 2, 2}}}
		r.to.Type, r.to.Codes = tensor.T(tensor.Int16, 2, 2, 2), codes
		got, err := tensor.ReadInts(tensor.Int16, (&Execution{}).encode(r, src), len(real))
		require.NoError(t, err)
		require.Equal(t, []int64{0, 2, 2, -2, 32767, -32768, 0, 0}, got, d)
	}
}
