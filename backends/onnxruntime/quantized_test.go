package onnxruntime

import (
	"math/rand/v2"
	"testing"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestSupport_ofCodesOpenVINO: the last node of each network is refused for its fault among codes, and its like is not.
// TestDevice_pairsOpenVINO computes such networks.
func TestSupport_ofCodesOpenVINO(t *testing.T) {
	d := openVINOCPU(t)
	network := func(to tensor.DType, last func(c *pairing) graph.Value) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			c := &pairing{Builder: b, r: rand.New(rand.NewPCG(39, 1)), to: to, zero: 7}
			if to == tensor.Invalid {
				c.in = b.Input("x", tensor.T(tensor.Float32, 2, 7, 9, 11))
			} else {
				c.in = c.coded(b.Input("x", tensor.T(tensor.Float32, 2, 7, 9, 11)), .037)
			}
			return last(c)
		}
	}
	after := func(names ...string) func(c *pairing) graph.Value {
		return func(c *pairing) graph.Value {
			x := c.in
			for _, name := range names {
				x = pairedOperators[name](c, x)
			}
			return x
		}
	}
	joined := func(c *pairing) graph.Value {
		return c.Add(&op.Concat{Axis: 1}, c.in, c.coded(c.Input("y", tensor.T(tensor.Float32, 2, 7, 9, 11)), .051))
	}
	negative := func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Mul{}, x, c.Float32(-1.1)) }
	for name, c := range map[string]struct {
		to   tensor.DType
		last func(c *pairing) graph.Value
		why  string
	}{
		"pool of codes":           {tensor.Int8, after("average_pool"), "rounds an AveragePool"},
		"pool of products":        {tensor.Int8, after("conv", "average_pool"), "rounds an AveragePool"},
		"pool without codes":      {tensor.Invalid, after("conv", "average_pool"), ""},
		"limits of codes":         {tensor.Uint8, after("clip"), "between limits anew"},
		"limits of moved codes":   {tensor.Uint8, after("slice", "relu", "clip"), "between limits anew"},
		"limits of scaled codes":  {tensor.Uint8, after("div", "max"), "between limits anew"},
		"limits of a convolution": {tensor.Uint8, after("conv_clip"), ""},
		"limits of a sum":         {tensor.Uint8, after("residual", "clip"), ""},
		"one limit": {tensor.Uint8, func(c *pairing) graph.Value {
			return c.Add(&op.Clip{}, pairedOperators["conv"](c, c.in), c.Float32(.5))
		}, "without an upper limit"},
		"signed codes joined":    {tensor.Int8, joined, "joins signed codes"},
		"unsigned codes joined":  {tensor.Uint8, joined, ""},
		"codes joined for codes": {tensor.Int8, func(c *pairing) graph.Value { return c.coded(joined(c), .07) }, ""},
		"padded behind a constant sum": {tensor.Int8, func(c *pairing) graph.Value {
			return c.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, pairedOperators["add"](c, c.in),
				c.real([]int64{7, 3, 3, 7}, -1, 1))
		}, "pads codes to which"},
		"not padded behind a constant sum": {tensor.Int8, func(c *pairing) graph.Value {
			return c.Add(&op.Conv{}, pairedOperators["add"](c, c.in), c.real([]int64{7, 3, 3, 7}, -1, 1))
		}, ""},
		"largest of codes":              {tensor.Int8, after("largest"), ""},
		"largest of sums":               {tensor.Int8, after("residual", "largest"), "other codes for the largest"},
		"pool of a product of matrices": {tensor.Int8, after("product", "max_pool"), "other codes for a MaxPool"},
		"negative factor after Relu": {tensor.Int8, func(c *pairing) graph.Value {
			return negative(c, pairedOperators["conv_relu"](c, c.in))
		}, "takes a negative factor"},
		"negative factor after a moved PRelu": {tensor.Int8, func(c *pairing) graph.Value {
			y := pairedOperators["conv_prelu"](c, c.in)
			return negative(c, c.Add(&op.Transpose{}, y, c.Int64s(0, 2, 3, 1)))
		}, "takes a negative factor"},
		"subtracted Relu": {tensor.Int8, after("conv_relu", "sub"), "takes a negative factor"},
		"positive factor after Relu": {tensor.Int8, func(c *pairing) graph.Value {
			return c.Add(&op.Mul{}, c.Float32(1.1), pairedOperators["conv_relu"](c, c.in))
		}, ""},
		"negative factor after a product": {tensor.Int8, func(c *pairing) graph.Value {
			return negative(c, pairedOperators["conv"](c, c.in))
		}, ""},
		"negative factor of real numbers": {tensor.Invalid, func(c *pairing) graph.Value {
			return negative(c, pairedOperators["conv_relu"](c, c.in))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) { supports(t, d, network(c.to, c.last), c.why) })
	}
}
