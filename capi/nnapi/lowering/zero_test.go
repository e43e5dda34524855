package lowering

import (
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// TestZeroSize: a batch of nothing, which only a run can have, gives results of nothing with the other sizes as always.
// Operations are those that the API lists.
func TestZeroSize(t *testing.T) {
	for _, f := range forms {
		unit, signed, coarse := f, f, f
		if f.quantized() {
			unit.scale, signed.scale, coarse.scale, unit.zero, signed.zero = 1./256, 1./128, 1./8, 0, 128
			if f.code == nnapi.TensorQuant8AsymmSigned {
				unit.zero, signed.zero = -128, 0
			}
		}
		image := f.put(nil, 0, 4, 3, 2)
		zero := func(o form, dims ...uint32) []arg { return []arg{o.put(nil, dims...)} }
		whole := func(c nnapi.OperationCode, in []arg, out []arg) { check{f.name, c, in, out, 0}.run(t) }
		for c, o := range map[nnapi.OperationCode]form{nnapi.ReLU: f, nnapi.ReLU1: f, nnapi.ReLU6: f, nnapi.Logistic: unit,
			nnapi.Tanh: signed, nnapi.HardSwish: coarse} {
			whole(c, []arg{image}, zero(o, 0, 4, 3, 2))
		}
		one := f.put(v1(1, 2), 2)
		for _, c := range []nnapi.OperationCode{nnapi.Add, nnapi.Sub, nnapi.Mul, nnapi.Div} {
			if c != nnapi.Div || !f.quantized() {
				whole(c, []arg{image, one, num(1)}, zero(coarse, 0, 4, 3, 2))
			}
		}
		whole(nnapi.Concatenation, []arg{image, image, num(3)}, zero(f, 0, 4, 3, 4))
		whole(nnapi.Softmax, []arg{image, f.scalar(1)}, zero(unit, 0, 4, 3, 2))
		whole(nnapi.Transpose, []arg{image, list(3, 0, 1, 2)}, zero(f, 2, 0, 4, 3))
		whole(nnapi.Slice, []arg{image, list(0, 1, 0, 0), list(0, 2, -1, 2)}, zero(f, 0, 2, 3, 2))
		for c, o := range map[nnapi.OperationCode]form{nnapi.AveragePool2D: f, nnapi.MaxPool2D: f, nnapi.L2Pool2D: f} {
			if c != nnapi.L2Pool2D || !f.quantized() {
				whole(c, []arg{image, num(2), num(1), num(1), num(2), num(2), num(0)}, zero(o, 0, 3, 2, 2))
			}
		}
		whole(nnapi.ResizeBilinear, []arg{image, num(6), num(5)}, zero(f, 0, 5, 6, 2))
		whole(nnapi.ResizeNearestNeighbor, []arg{image, num(6), num(5), flag(false)}, zero(f, 0, 5, 6, 2))
		boxes := f.coordinates().put(nil, 0, 4)
		more := []arg{boxes, i32(nil, 0), num(2), num(3), f.scalar(1), f.scalar(1), num(1), num(1), flag(false)}
		whole(nnapi.ROIAlign, args([]arg{f.put(noise(1, 24, 0, 1), 1, 4, 3, 2)}, more), zero(f, 0, 2, 3, 2))
		whole(nnapi.AxisAlignedBBoxTransform, []arg{boxes, f.put(nil, 0, 8), i32(nil, 0), f.coordinates().put(v1(8, 8), 1,
			2)},
			zero(f.coordinates(), 0, 8))
		if f.quantized() {
			whole(nnapi.Dequantize, []arg{image}, []arg{f32(nil, 0, 4, 3, 2)})
		} else {
			whole(nnapi.Quantize, []arg{image}, []arg{u8(1, 0, nil, 0, 4, 3, 2)})
		}
	}
	for _, c := range filters(0, channelScales) {
		image := c.in.put(nil, 0, 4, 3, 2)
		f, bias := c.filter(noise(1, 4*2*2*2, -1, 1), 4, 2, 2, 2), c.bias(noise(2, 4, -1, 1), 4)
		tail := []arg{num(2), num(1), num(1), num(0)}
		out := func(dims ...uint32) []arg { return []arg{c.out.put(nil, dims...)} }
		check{c.name, nnapi.Conv2D, args([]arg{image, f, bias}, tail), out(0, 3, 2, 4), 0}.run(t)
		check{c.name, nnapi.TransposeConv2D, args([]arg{image, f, bias, list(0, 5, 4, 4)}, tail, []arg{flag(false)}),
			out(0, 5, 4, 4),
			0}.run(t)
		if f.Channel == nil {
			check{c.name, nnapi.FullyConnected, []arg{c.in.put(nil, 0, 3), c.filter(noise(3, 12, -1, 1), 4, 3), bias, num(0)},
				out(0, 4),
				0}.run(t)
		}
	}
	for _, c := range filters(3, channelScales) {
		f, bias := c.filter(noise(1, 4*2*2, -1, 1), 1, 2, 2, 4), c.bias(noise(2, 4, -1, 1), 4)
		check{c.name, nnapi.DepthwiseConv2D, []arg{c.in.put(nil, 0, 4, 3, 2), f, bias, num(2), num(1), num(1), num(2),
			num(0)},
			[]arg{c.out.put(nil, 0, 3, 2, 4)}, 0}.run(t)
	}
}
