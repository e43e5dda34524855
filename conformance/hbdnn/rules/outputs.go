package rules

import (
	"encoding/binary"
	"math"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	rknn "github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// turned is y = Transpose(Relu(x)), [1,2,1,3] to [1,1,3,2].
func turned() *hbdnn.ONNX {
	return (&hbdnn.ONNX{}).Input("x", rknn.ONNXFloat, 1, 2, 1, 3).Output("y", rknn.ONNXFloat, 1, 1, 3, 2).
		Node("Relu", "r", "x").Op("Transpose", []string{"y"}, []string{"r"}, rknn.Attrs{"perm": []int{0, 2, 3, 1}})
}

// scaled demands codes with n scales along an axis, all of one value, and zero points of 0.
func (t *T) scaled(p *hbdnn.Properties, kind, n, axis int32, scale float32) {
	t.Check(p.Kind == kind && p.Quant == 2 && p.ScaleLen == n && p.ZeroLen == n,
		"type %d, quantiType %d, %d scales, %d zero points",
		p.Kind, p.Quant, p.ScaleLen, p.ZeroLen)
	t.Check(!t.HasAxis() || p.Axis == axis, "axis %d, want %d", p.Axis, axis)
	for i, s := range cmem.Span[float32](p.Scale, int(n)) {
		t.Check(s == scale, "scale %d is %g, want %g", i, s, scale)
	}
	for i, z := range cmem.Span[int8](p.Zero, int(n)) {
		t.Check(z == 0, "zero point %d is %d", i, z)
	}
}

var outputs = []*Rule{
	rule("7.k_codes_of_numbers", "with anynpu.output.NAME.codes an output of real numbers is codes, rounded half to even "+
		"and saturated; those of 32 bits have a scale and a zero point for each channel").
		OK("all", func(t *T) {
			r := t.Prepare(turned().Meta("anynpu.outputs.codes", "int32"))
			t.scaled(&r.Out[0].Properties, hbdnn.S32, 2, 3, 1./65536)
			hbdnn.Fill[float32](r, 1, -1, 0.5/65536, 2, 40000, 1.5/65536)
			t.Compute(r)
			hbdnn.Gives[int32](t.T, r, 65536, 131072, 0, math.MaxInt32, 0, 2)
		}).
		OK("scales", func(t *T) {
			m := turned().Meta("anynpu.output.y.codes", map[string]any{"type": "int16", "scale": []float64{0.5, 4}, "axis": 3})
			r := t.Prepare(m)
			p := &r.Out[0].Properties
			t.Check(p.Kind == hbdnn.S16 && p.ScaleLen == 2 && *cmem.At[[2]float32](p.Scale) == [2]float32{0.5, 4},
				"type %d, %d scales", p.Kind, p.ScaleLen)
			hbdnn.Fill[float32](r, 1, 1.25, 20000, 2, 6, 8)
			t.Compute(r)
			hbdnn.Gives[int16](t.T, r, 2, 0, 2, 2, 32767, 2)
		}).
		OK("one", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4).Meta("anynpu.output.y.codes", "int8").Meta("anynpu.outputs.codes", "int32"))
			t.scaled(&r.Out[0].Properties, hbdnn.S8, 1, 1, 1./16)
			hbdnn.Fill[float32](r, 1, 0.1, -3, 100)
			t.Compute(r)
			hbdnn.Gives[int8](t.T, r, 16, 2, 0, 127)
		}).
		OK("integers", func(t *T) {
			m := (&hbdnn.ONNX{}).Input("x", 6, 1, 4).Output("y", 6, 1, 4).Node("Identity", "y", "x").Meta("anynpu.outputs.codes",
				"int8")
			p := t.Out(t.Model(m), 0)
			t.Check(p.Kind == hbdnn.S32 && p.Quant == 0, "type %d, quantiType %d", p.Kind, p.Quant)
		}).
		No("number_of_scales", func(t *T) {
			t.refused(turned().Meta("anynpu.output.y.codes", map[string]any{"type": "int32", "scale": []float64{1, 2, 3}}),
				"anynpu.output.y.codes", "3 numbers")
		}).
		No("beyond", func(t *T) {
			t.refused(turned().Meta("anynpu.output.y.codes", map[string]any{"type": "int32", "axis": 4}), "axis is 4")
		}).
		No("type", func(t *T) { t.refused(turned().Meta("anynpu.output.y.codes", "int64"), "anynpu.output.y.codes") }),
	rule("7.l_codes_of_32_bits", "DequantizeLinear of int32 at an output is shown as its codes, with a scale for each "+
		"channel").
		OK("one_scale", func(t *T) {
			m := (&hbdnn.ONNX{}).Input("x", rknn.ONNXFloat, 1, 3).Output("y", rknn.ONNXFloat, 1, 3).
				Constant("s", 1, []byte{0, 0, 0, 63}).Op("Cast", []string{"c"}, []string{"x"}, rknn.Attrs{"to": 6}).
				Node("DequantizeLinear", "y", "c", "s")
			r := t.Prepare(m)
			if !t.HasAxis() && r.Out[0].Properties.Kind == hbdnn.F32 {
				return
			}
			t.scaled(&r.Out[0].Properties, hbdnn.S32, 3, 1, 0.5)
			hbdnn.Fill[float32](r, 7, -70000, 1<<30)
			t.Compute(r)
			hbdnn.Gives[int32](t.T, r, 7, -70000, 1<<30)
		}).
		OK("zero_point", func(t *T) {
			for _, zero := range []int32{3, -128, 127, 128, -129} { // int8_t, as hbDNNQuantiScale has it, or numbers
				r := t.Prepare((&hbdnn.ONNX{}).Input("x", rknn.ONNXFloat, 1, 3).Output("y", rknn.ONNXFloat, 1, 3).
					Constant("s", 1, rknn.RealBytes(0.5)).
					Constant("z", rknn.ONNXInt32, binary.LittleEndian.AppendUint32(nil, uint32(zero))).
					Op("Cast", []string{"c"}, []string{"x"}, rknn.Attrs{"to": 6}).Node("DequantizeLinear", "y", "c", "s", "z"))
				hbdnn.Fill(r, 7, -70000, float32(zero))
				t.Compute(r)
				if p := &r.Out[0].Properties; p.Kind == hbdnn.F32 {
					t.Check(!t.HasAxis() || zero < -128 || zero > 127, "zero point %d: numbers", zero)
					hbdnn.Gives(t.T, r, float32(7-zero)/2, float32(-70000-zero)/2, 0)
				} else {
					t.Check(p.ZeroLen == 3 && *cmem.At[[3]int8](p.Zero) == [3]int8{int8(zero), int8(zero), int8(zero)},
						"zero point %d: %v", zero, *cmem.At[[3]int8](p.Zero))
					hbdnn.Gives(t.T, r, 7, -70000, zero)
				}
			}
		}).
		No("type", func(t *T) {
			r := t.Prepare(turned().Meta("anynpu.outputs.codes", "int32"))
			r.Out[0].Properties.Kind = hbdnn.F32
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("6.dd_frames_for_numbers", "NV12 images at a first input of real numbers are refused with the key that has it "+
		"take them").
		OK("key", func(t *T) {
			p := t.In(t.Model(image("nv12", 1, 3, 32, 48)), 0)
			t.Check(p.Kind == hbdnn.NV12, "type %d", p.Kind)
		}).
		No("type", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 3, 32, 48))
			r.In[0].Properties.Kind = hbdnn.NV12
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("anynpu.input.x.pixel = nv12", "anynpu metadata")
		}).
		No("memory", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 3, 32, 48))
			r.In[0].Mem[0].Size = 32 * 48 * 3 / 2
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("2304 bytes are an NV12 image", "anynpu.input.x.pixel = nv12")
		}),
	rule("6.dc_order_of_outputs", "outputs that come straight from a transposition to channels last are NHWC; "+
		"anynpu.output.NAME.layout names the order that programs get, native that of the model").
		OK("transposed", func(t *T) {
			t.shows(t.Out(t.Model(turned()), 0), hbdnn.F32, hbdnn.NHWC, 24, []int32{1, 1, 3, 2}, []int32{1, 1, 3, 2},
				[]int32{24, 24, 8, 4})
		}).
		OK("nhwc", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2, 1, 3).Meta("anynpu.output.y.layout", "nhwc"))
			t.shows(&r.Out[0].Properties, hbdnn.F32, hbdnn.NHWC, 24, []int32{1, 1, 3, 2}, []int32{1, 1, 3, 2},
				[]int32{24, 24, 8, 4})
			hbdnn.Fill[float32](r, 1, 2, 3, 4, 5, 6)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 4, 2, 5, 3, 6)
		}).
		OK("nchw", func(t *T) {
			r := t.Prepare(turned().Meta("anynpu.output.y.layout", "nchw"))
			t.shows(&r.Out[0].Properties, hbdnn.F32, hbdnn.NCHW, 24, []int32{1, 2, 1, 3}, []int32{1, 2, 1, 3},
				[]int32{24, 12, 12, 4})
			hbdnn.Fill[float32](r, 1, 2, 3, 4, 5, 6)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6)
		}).
		OK("native", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 1, 3, 2).Meta("anynpu.output.y.native", "nhwc"))
			t.Check(r.Out[0].Properties.Layout == hbdnn.NHWC, "layout %d", r.Out[0].Properties.Layout)
			hbdnn.Fill[float32](r, 1, 2, 3, 4, 5, 6)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6)
		}).
		OK("inputs", func(t *T) {
			m := (&hbdnn.ONNX{}).Input("x", rknn.ONNXFloat, 1, 1, 3, 2).Output("y", rknn.ONNXFloat, 1, 2, 1, 3).
				Op("Transpose", []string{"r"}, []string{"x"}, rknn.Attrs{"perm": []int{0, 3, 1, 2}}).Node("Relu", "y", "r")
			r := t.Prepare(m)
			t.Check(r.In[0].Properties.Layout == hbdnn.NHWC && r.Out[0].Properties.Layout == hbdnn.NCHW, "layouts %d and %d",
				r.In[0].Properties.Layout, r.Out[0].Properties.Layout)
			hbdnn.Fill[float32](r, 1, 4, 2, 5, 3, 6)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6)
		}).
		No("layout", func(t *T) {
			r := t.Prepare(turned())
			r.Out[0].Properties.Layout = hbdnn.NCHW
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}).
		No("word", func(t *T) { t.refused(turned().Meta("anynpu.output.y.layout", "chw"), "anynpu.output.y.layout") }),
}
