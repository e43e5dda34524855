package rules

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	rknn "github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// image is a model whose input are pixels.
func image(pixel string, dims ...int64) *hbdnn.ONNX {
	return hbdnn.Relu(dims...).Meta("anynpu.input.x.pixel", pixel)
}

// refused demands that a model is not loaded.
func (t *T) refused(m *hbdnn.ONNX, says ...string) {
	b := m.Bytes()
	t.Is(hbdnn.InvalidModel, "DNNInitializeFromDDR", address(), []uintptr{cmem.First(b)}, []int32{int32(len(b))}, 1)
	t.Says(says...)
}

var images = []*Rule{
	rule("6.m_kinds", "gray, color, NV12 and YUV444 images are taken").
		OK("kinds", func(t *T) {
			for pixel, want := range map[string]int32{"gray": hbdnn.Y, "rgb": hbdnn.RGB, "bgr": hbdnn.BGR, "nv12": hbdnn.NV12,
				"yuv444": hbdnn.YUV444} {
				channels := int64(3)
				if pixel == "gray" {
					channels = 1
				}
				p := t.In(t.Model(image(pixel, 1, channels, 4, 16)), 0)
				t.Check(p.Kind == want, "%s is of type %d", pixel, p.Kind)
			}
		}).
		No("rgba", func(t *T) { t.refused(image("rgba", 1, 4, 4, 16), "rgba") }).
		No("channels", func(t *T) { t.refused(image("gray", 1, 3, 4, 16), "pixel") }).
		No("rank", func(t *T) { t.refused(image("rgb", 3, 16), "pixel") }),
	rule("6.mb_signed_bytes", "with anynpu.input.NAME.bytes signed the bytes of gray, RGB, BGR and YUV444 images are "+
		"pixels - 128; with ANYNPU_HBDNN_BYTES signed those of color images of which the model does not say it").
		OK("colors", func(t *T) {
			for pixel, bytes := range map[string][]uint8{"rgb": {72, 128, 127, 0, 129, 130},
				"bgr": {129, 130, 127, 0, 72, 128}} {
				m := image(pixel, 1, 3, 1, 2).Meta("anynpu.input.x.layout", "nchw").Meta("anynpu.input.x.order", "rgb")
				r := t.Prepare(m.Meta("anynpu.input.x.bytes", "signed"))
				hbdnn.Fill(r, bytes...)
				t.Compute(r)
				hbdnn.Gives[float32](t.T, r, 200, 0, 255, 128, 1, 2)
			}
		}).
		OK("yuv444", func(t *T) {
			m := image("yuv444", 1, 3, 1, 1).Meta("anynpu.input.x.order", "yuv444").Meta("anynpu.input.x.bytes", "signed")
			r := t.Prepare(m.Meta("anynpu.input.x.mean", []float32{100, 20, 3}))
			hbdnn.Fill[uint8](r, 72, 0, 255)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 100, 108, 124)
		}).
		OK("gray", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 1, 2).Meta("anynpu.input.x.bytes", "signed"))
			hbdnn.Fill[uint8](r, 72, 128)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 200, 0)
		}).
		OK("unsigned", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 1, 2).Meta("anynpu.input.x.bytes", "unsigned"))
			hbdnn.Fill[uint8](r, 72, 128)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 72, 128)
		}).
		OK("variable", func(t *T) {
			for says, want := range map[string]float32{"": 200, "unsigned": 72} {
				m := image("rgb", 1, 3, 1, 1).Meta("anynpu.input.x.layout", "nchw")
				if says != "" {
					m.Meta("anynpu.input.x.bytes", says)
				}
				r := t.Prepare(m)
				hbdnn.Fill[uint8](r, 72, 72, 72)
				t.Compute(r)
				hbdnn.Gives(t.T, r, want, want, want)
			}
			r := t.Prepare(image("gray", 1, 1, 1, 2))
			hbdnn.Fill[uint8](r, 72, 128)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 72, 128)
		}).With("ANYNPU_HBDNN_BYTES=signed").
		OK("variable_unsigned", func(t *T) {
			r := t.Prepare(image("rgb", 1, 3, 1, 1).Meta("anynpu.input.x.layout", "nchw"))
			hbdnn.Fill[uint8](r, 72, 128, 200)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 72, 128, 200)
		}).With("ANYNPU_HBDNN_BYTES=unsigned").
		No("nv12", func(t *T) {
			t.refused(image("nv12", 1, 3, 2, 2).Meta("anynpu.input.x.bytes", "signed"), "bytes signed")
		}),
	rule("6.n_gray", "the width of a gray image is aligned to 16, and its strides are 0").
		OK("aligned", func(t *T) {
			t.shows(t.In(t.Model(image("gray", 1, 1, 3, 5)), 0), hbdnn.Y, hbdnn.NCHW, 48, []int32{1, 1, 3, 5},
				[]int32{1, 1, 3, 16}, nil)
			t.shows(t.In(t.Model(image("gray", 1, 1, 3, 32)), 0), hbdnn.Y, hbdnn.NCHW, 96, []int32{1, 1, 3, 32},
				[]int32{1, 1, 3, 32}, nil)
		}).
		No("size", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 3, 5))
			r.In[0].Mem[0].Size = 47
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("48 bytes")
		}),
	rule("6.o_pitch", "rows of a gray image begin at multiples of the width in alignedShape, any that is not below the "+
		"image's").
		OK("aligned", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 2, 3))
			row := hbdnn.Of[uint8](&r.In[0].Mem[0], 32)
			copy(row, []uint8{1, 2, 3, 99})
			copy(row[16:], []uint8{4, 5, 6, 99})
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6)
		}).
		OK("own", func(t *T) {
			for _, pitch := range []int32{3, 4, 7} {
				r := t.Prepare(image("gray", 1, 1, 2, 3))
				row := hbdnn.Of[uint8](&r.In[0].Mem[0], 32)
				copy(row, []uint8{1, 2, 3})
				copy(row[pitch:], []uint8{4, 5, 6})
				r.In[0].Properties.Aligned.Dims[3], r.In[0].Mem[0].Size = pitch, uint32(2*pitch)
				t.Compute(r)
				hbdnn.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6)
			}
		}).
		No("below", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 2, 3))
			for _, pitch := range []int32{2, 0, -16} {
				r.In[0].Properties.Aligned.Dims[3] = pitch
				t.Infer(hbdnn.InvalidArgument, address(), r)
			}
			t.Says("alignedShape")
		}).
		No("larger", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 2, 3))
			r.In[0].Properties.Aligned.Dims[3] = 17
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("34 bytes")
		}),
	rule("6.p_color", "color images are bytes without gaps, NHWC or NCHW").
		OK("nhwc", func(t *T) {
			r := t.Prepare(image("rgb", 1, 3, 1, 2))
			t.shows(&r.In[0].Properties, hbdnn.RGB, hbdnn.NHWC, 6, []int32{1, 1, 2, 3}, []int32{1, 1, 2, 3}, []int32{6, 6, 3, 1})
			hbdnn.Fill[uint8](r, 1, 2, 3, 4, 5, 6)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 4, 2, 5, 3, 6)
		}).
		OK("nchw", func(t *T) {
			r := t.Prepare(image("rgb", 1, 3, 1, 2).Meta("anynpu.input.x.layout", "nchw"))
			t.shows(&r.In[0].Properties, hbdnn.RGB, hbdnn.NCHW, 6, []int32{1, 3, 1, 2}, []int32{1, 3, 1, 2}, []int32{6, 2, 2, 1})
			hbdnn.Fill[uint8](r, 1, 2, 3, 4, 5, 6)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6)
		}).
		No("other_kind", func(t *T) {
			r := t.Prepare(image("rgb", 1, 3, 1, 2))
			r.In[0].Properties.Kind = hbdnn.BGR
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("tensorType is BGR")
		}),
	rule("6.q_normalized", "pixels become (x - mean) / std by the metadata").
		OK("gray", func(t *T) {
			r := t.Prepare(image("gray", 1, 1, 1, 3).Meta("anynpu.input.x.mean", []float32{10}).
				Meta("anynpu.input.x.std", []float32{4}))
			hbdnn.Fill[uint8](r, 12, 10, 255)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 0.5, 0, 61.25)
		}).
		OK("channels", func(t *T) {
			r := t.Prepare(image("rgb", 1, 3, 1, 1).Meta("anynpu.input.x.mean", []float32{1, 2, 3}).
				Meta("anynpu.input.x.std", []float32{2, 4, 8}))
			hbdnn.Fill[uint8](r, 11, 22, 43)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 5, 5, 5)
		}).
		No("std", func(t *T) { t.refused(image("gray", 1, 1, 1, 3).Meta("anynpu.input.x.std", []float32{0}), "std") }),
	rule("6.r_feature_maps_are_not", "numbers are taken as they are").
		OK("numbers", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 1, 1, 3).Meta("anynpu.input.x.mean", []float32{10}).
				Meta("anynpu.input.x.std", []float32{4}))
			hbdnn.Fill[float32](r, 12, 10, -1)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 12, 10, 0)
		}).
		No("bytes", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 1, 1, 3).Meta("anynpu.input.x.mean", []float32{10}))
			r.In[0].Properties.Kind = hbdnn.U8
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("6.s_training_order", "channels change places where the network was trained with the other order").
		OK("swapped", func(t *T) {
			r := t.Prepare(image("bgr", 1, 3, 1, 1).Meta("anynpu.input.x.order", "rgb"))
			hbdnn.Fill[uint8](r, 1, 2, 3)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 3, 2, 1)
		}).
		No("unknown", func(t *T) { t.refused(image("bgr", 1, 3, 1, 1).Meta("anynpu.input.x.order", "grb"), "order") }),
}

// nv12 is an NV12 image of luma, rows of width bytes that begin at multiples of pitch, and of pairs of chroma.
func (t *T) nv12(m *hbdnn.SysMem, at, pitch, width int, rows ...uint8) {
	whole := hbdnn.Of[uint8](m, int(m.Size))
	for y := 0; y*width < len(rows); y++ {
		copy(whole[at+y*pitch:], rows[y*width:(y+1)*width])
	}
}

// near demands numbers of output 0 with an error of at most 0.001.
func (t *T) near(r *hbdnn.Run, want ...float64) {
	for i, v := range hbdnn.Of[float32](&r.Out[0].Mem[0], len(want)) {
		t.Check(math.Abs(float64(v)-want[i]) <= 1e-3, "element %d is %v, want %v", i, v, want[i])
	}
}

// coloredLuma and coloredPairs are an NV12 image of 2 x 4 pixels: each pair of chroma belongs to 2 x 2 of them.
var (
	coloredLuma  = []uint8{100, 110, 120, 130, 140, 150, 160, 170}
	coloredPairs = []uint8{90, 140, 150, 120}
)

// coloredChannels is the colored image as planes of red, green and blue, by the formula.
func coloredChannels() []float64 {
	channels := make([]float64, 3*len(coloredLuma))
	for i, y := range coloredLuma {
		pair := coloredPairs[i%4/2*2:]
		for c, v := range rgb(float64(y), float64(pair[0]), float64(pair[1])) {
			channels[c*len(coloredLuma)+i] = v
		}
	}
	return channels
}

// rgb is the color of full-range luma and chroma.
func rgb(y, u, v float64) []float64 {
	u, v = u-128, v-128
	return []float64{y + 1.402*v, y - 0.344136*u - 0.714136*v, y + 1.772*u}
}

var yuv = []*Rule{
	rule("6.t_nv12", "an NV12 image is NCHW with three channels, and takes H x W x 3 / 2 bytes of the aligned width").
		OK("shape", func(t *T) {
			t.shows(t.In(t.Model(image("nv12", 1, 3, 4, 6)), 0), hbdnn.NV12, hbdnn.NCHW, 96, []int32{1, 3, 4, 6},
				[]int32{1, 3, 4, 16}, nil)
		}).
		OK("odd", func(t *T) {
			p := t.In(t.Model(image("nv12", 1, 3, 3, 5)), 0)
			t.Check(p.Bytes == 3*16*3/2, "%d bytes", p.Bytes)
		}).
		No("size", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 4, 6))
			r.In[0].Mem[0].Size = 95
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("96 bytes")
		}),
	rule("6.u_nv12_block", "chroma of one block begins behind the rows of luma, with the same pitch; pixels of 2 x 2 "+
		"share a pair").
		OK("colors", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 4))
			t.nv12(&r.In[0].Mem[0], 0, 16, 4, coloredLuma...)
			t.nv12(&r.In[0].Mem[0], 32, 16, 4, coloredPairs...)
			t.Compute(r)
			t.near(r, coloredChannels()...)
		}).
		OK("without_color", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 2))
			t.nv12(&r.In[0].Mem[0], 0, 16, 2, 1, 2, 3, 255)
			t.nv12(&r.In[0].Mem[0], 32, 16, 2, 128, 128)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 255, 1, 2, 3, 255, 1, 2, 3, 255)
		}).
		No("rgb", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 2))
			r.In[0].Properties.Kind = hbdnn.RGB
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("NV12")
		}),
	rule("6.v_nv12_separate", "an NV12 image may be handed over in two memories").
		OK("same", func(t *T) {
			one, two := t.Prepare(image("nv12", 1, 3, 2, 4)), t.Prepare(image("nv12", 1, 3, 2, 4))
			t.nv12(&one.In[0].Mem[0], 0, 16, 4, coloredLuma...)
			t.nv12(&one.In[0].Mem[0], 32, 16, 4, coloredPairs...)
			two.In[0].Properties.Kind = hbdnn.NV12Separate
			two.In[0].Mem[0], two.In[0].Mem[1] = t.Mem(32), t.Mem(16)
			t.nv12(&two.In[0].Mem[0], 0, 16, 4, coloredLuma...)
			t.nv12(&two.In[0].Mem[1], 0, 16, 4, coloredPairs...)
			t.Compute(one)
			t.Compute(two)
			t.near(two, coloredChannels()...)
			hbdnn.Gives(t.T, two, slices.Clone(hbdnn.Of[float32](&one.Out[0].Mem[0], 24))...)
		}).
		No("second", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 4))
			r.In[0].Properties.Kind = hbdnn.NV12Separate
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("sysMem[1]")
			r.In[0].Mem[1] = r.In[0].Mem[0]
			r.In[0].Mem[1].Size = 15
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("sysMem[1]", "16 bytes")
		}),
	rule("6.w_nv12_pitch", "the width of alignedShape is the pitch of both planes of NV12").
		OK("own", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 4))
			r.In[0].Properties.Aligned.Dims[3], r.In[0].Mem[0].Size = 6, 18
			t.nv12(&r.In[0].Mem[0], 0, 6, 4, 1, 2, 3, 4, 5, 6, 7, 8)
			t.nv12(&r.In[0].Mem[0], 12, 6, 4, 128, 128, 128, 128)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6, 7, 8)
		}).
		No("below", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 4))
			r.In[0].Properties.Aligned.Dims[3] = 3
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("alignedShape")
		}),
	rule("6.x_yuv444", "a YUV444 image is bytes of luma and chroma without gaps, as layout says").
		OK("nhwc", func(t *T) {
			r := t.Prepare(image("yuv444", 1, 3, 1, 2))
			t.Check(r.In[0].Properties.Kind == hbdnn.YUV444 && r.In[0].Properties.Layout == hbdnn.NHWC, "properties %+v",
				r.In[0].Properties)
			hbdnn.Fill[uint8](r, 100, 90, 140, 130, 150, 120)
			t.Compute(r)
			a, b := rgb(100, 90, 140), rgb(130, 150, 120)
			t.near(r, a[0], b[0], a[1], b[1], a[2], b[2])
		}).
		No("nv12", func(t *T) {
			r := t.Prepare(image("yuv444", 1, 3, 2, 2))
			r.In[0].Properties.Kind = hbdnn.NV12
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("6.y_video_range", "with the range bt601_video luma is 16 to 235").
		OK("gray_levels", func(t *T) {
			r := t.Prepare(image("nv12", 1, 3, 2, 2).Meta("anynpu.input.x.range", "bt601_video"))
			t.nv12(&r.In[0].Mem[0], 0, 16, 2, 16, 116, 235, 17)
			t.nv12(&r.In[0].Mem[0], 32, 16, 2, 128, 128)
			t.Compute(r)
			t.near(r, 0, 116.4, 254.916, 1.164, 0, 116.4, 254.916, 1.164)
		}).
		No("unknown", func(t *T) { t.refused(image("nv12", 1, 3, 2, 2).Meta("anynpu.input.x.range", "wide"), "range") }),
}

// codes is y = Relu(x) in codes with a scale of 0.5.
func codes(elem int64, zero byte) *hbdnn.ONNX { return codesOf(elem, zero, 1, 4) }

// wide is the same in codes of 16 bits.
func wide(zero int16) *hbdnn.ONNX {
	return coded(5, []byte{byte(zero), byte(zero >> 8)}, 1, 4)
}

func codesOf(elem int64, zero byte, dims ...int64) *hbdnn.ONNX {
	return coded(elem, []byte{zero}, dims...)
}

func coded(elem int64, zero []byte, dims ...int64) *hbdnn.ONNX {
	return (&hbdnn.ONNX{}).Input("x", 1, dims...).Output("y", 1, dims...).Constant("s", 1, rknn.RealBytes(0.5)).
		Constant("z", elem, zero).Node("QuantizeLinear", "q", "x", "s", "z").
		Node("DequantizeLinear", "r", "q", "s", "z").Node("Relu", "v", "r").Node("QuantizeLinear", "p", "v", "s", "z").
		Node("DequantizeLinear", "y", "p", "s", "z")
}

// channels is y = DequantizeLinear(QuantizeLinear(Relu(x))) of two channels with a scale and a zero point each.
func channels(zeros ...byte) *hbdnn.ONNX {
	return (&hbdnn.ONNX{}).Input("x", 1, 1, 2, 1, 2).Output("y", 1, 1, 2, 1, 2).
		Constant("s", 1, append(rknn.RealBytes(0.5), rknn.RealBytes(0.25)...), 2).Constant("z", 3, zeros, 2).
		Node("Relu", "r", "x").Node("QuantizeLinear", "q", "r", "s", "z").Node("DequantizeLinear", "y", "q", "s", "z")
}

var quantization = []*Rule{
	rule("7.i_axis", "codes have a scale and a zero point for each index of quantizeAxis; headers without it get numbers").
		OK("run", func(t *T) {
			r := t.Prepare(channels(1, 0xfe))
			p := &r.Out[0].Properties
			hbdnn.Fill[float32](r, -1, 1.1, 0.5, 3)
			t.Compute(r)
			if !t.HasAxis() {
				t.Check(p.Kind == hbdnn.F32 && p.Quant == 0 && p.ScaleLen == 0, "type %d, quantiType %d", p.Kind, p.Quant)
				hbdnn.Gives[float32](t.T, r, 0, 1, 0.5, 3)
				return
			}
			t.Check(p.Kind == hbdnn.S8 && p.Quant == 2 && p.Axis == 1 && p.ScaleLen == 2 && p.ZeroLen == 2 && p.ShiftLen == 0,
				"type %d, quantiType %d, axis %d, %d scales, %d zero points", p.Kind, p.Quant, p.Axis, p.ScaleLen, p.ZeroLen)
			scales, zeros := *cmem.At[[2]float32](p.Scale), *cmem.At[[2]int8](p.Zero)
			t.Check(scales == [2]float32{0.5, 0.25} && zeros == [2]int8{1, -2}, "scales %v, zero points %v", scales, zeros)
			hbdnn.Gives[int8](t.T, r, 1, 3, 0, 10)
		}).
		No("type", func(t *T) {
			r := t.Prepare(channels(1, 0xfe))
			r.Out[0].Properties.Kind = hbdnn.U8
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("7.j_shift", "with anynpu.quantization shift, scales that are powers of two are shifts, unless there are zero "+
		"points").
		OK("one", func(t *T) {
			p := t.In(t.Model(codes(3, 0).Meta("anynpu.quantization", "shift")), 0)
			t.Check(p.Kind == hbdnn.S8 && p.Quant == 1 && p.ShiftLen == 1 && p.ScaleLen == 0 && p.ZeroLen == 0,
				"type %d, quantiType %d, %d shifts, %d scales", p.Kind, p.Quant, p.ShiftLen, p.ScaleLen)
			t.Check(*cmem.At[uint8](p.Shift) == 1, "shift %d", *cmem.At[uint8](p.Shift))
		}).
		OK("axis", func(t *T) {
			r := t.Prepare(channels(0, 0).Meta("anynpu.quantization", "shift"))
			p := &r.Out[0].Properties
			hbdnn.Fill[float32](r, -1, 1.1, 0.5, 3)
			t.Compute(r)
			if !t.HasAxis() {
				hbdnn.Gives[float32](t.T, r, 0, 1, 0.5, 3)
				return
			}
			t.Check(p.Quant == 1 && p.ShiftLen == 2 && p.Axis == 1 && p.ScaleLen == 0, "quantiType %d, %d shifts, axis %d",
				p.Quant, p.ShiftLen, p.Axis)
			shifts := *cmem.At[[2]uint8](p.Shift)
			t.Check(shifts == [2]uint8{1, 2}, "shifts %v", shifts)
			hbdnn.Gives[int8](t.T, r, 0, 2, 2, 12)
		}).
		OK("zero_point", func(t *T) {
			p := t.In(t.Model(codes(3, 0xfd).Meta("anynpu.quantization", "shift")), 0)
			t.Check(p.Quant == 2 && p.ShiftLen == 0 && p.ScaleLen == 1, "quantiType %d, %d shifts", p.Quant, p.ShiftLen)
		}).
		No("type", func(t *T) {
			r := t.Prepare(codes(3, 0).Meta("anynpu.quantization", "shift"))
			r.In[0].Properties.Kind = hbdnn.U8
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("7.a_scale", "codes cross the border with one scale and one zero point").
		OK("signed", func(t *T) {
			p := t.In(t.Model(codes(3, 0xfd)), 0)
			t.Check(p.Kind == hbdnn.S8 && p.Quant == 2 && p.ScaleLen == 1 && p.ZeroLen == 1 && p.Bytes == 4,
				"type %d, quantiType %d, %d scales, %d zero points", p.Kind, p.Quant, p.ScaleLen, p.ZeroLen)
			scale, zero := *cmem.At[float32](p.Scale), *cmem.At[int8](p.Zero)
			t.Check(scale == 0.5 && zero == -3, "scale %g, zero point %d", scale, zero)
		}).
		OK("unsigned", func(t *T) {
			p := t.Out(t.Model(codes(2, 7)), 0)
			t.Check(p.Kind == hbdnn.U8 && p.Quant == 2 && *cmem.At[int8](p.Zero) == 7, "type %d, quantiType %d", p.Kind, p.Quant)
		}).
		OK("for_each_channel", func(t *T) {
			for _, dims := range [][]int64{{1, 5, 2, 3}, {1, 3, 2, 5}} { // which programs index, whatever scaleLen says
				p := t.Out(t.Model(codesOf(3, 0xfd, dims...)), 0)
				for i, s := range cmem.Span[float32](p.Scale, 5) {
					t.Check(s == 0.5, "%v: scale %d is %g", dims, i, s)
				}
				for i, z := range cmem.Span[int8](p.Zero, 5) {
					t.Check(z == -3, "%v: zero point %d is %d", dims, i, z)
				}
			}
		}).
		No("float", func(t *T) {
			r := t.Prepare(codes(3, 0))
			r.In[0].Properties.Kind = hbdnn.F32
			t.Infer(hbdnn.InvalidArgument, address(), r)
			t.Says("S8")
		}),
	rule("7.b_codes", "codes are computed with as they are").
		OK("run", func(t *T) {
			r := t.Prepare(codes(3, 0))
			hbdnn.Fill[int8](r, -1, 2, -128, 127)
			t.Compute(r)
			hbdnn.Gives[int8](t.T, r, 0, 2, 0, 127)
		}).
		OK("zero_point", func(t *T) {
			r := t.Prepare(codes(3, 0xfd))
			hbdnn.Fill[int8](r, -4, -3, 5, -128)
			t.Compute(r)
			hbdnn.Gives[int8](t.T, r, -3, -3, 5, -3)
		}).
		No("size", func(t *T) {
			r := t.Prepare(codes(3, 0))
			r.In[0].Mem[0].Size = 3
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("7.c_zero_points_beyond", "codes with a zero point that int8_t does not hold are shown as numbers").
		OK("numbers", func(t *T) {
			r := t.Prepare(codes(2, 200))
			p := &r.In[0].Properties
			t.Check(p.Kind == hbdnn.F32 && p.Quant == 0 && p.ScaleLen == 0 && p.Scale == 0, "type %d, quantiType %d", p.Kind,
				p.Quant)
			hbdnn.Fill[float32](r, -0.5, 1.25, 27.5, 1.75)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 0, 1, 27.5, 2)
		}).
		OK("ends", func(t *T) {
			for zero, kind := range map[int16]int32{-129: hbdnn.F32, -128: hbdnn.S16, 127: hbdnn.S16, 128: hbdnn.F32} {
				r := t.Prepare(wide(zero))
				p := &r.In[0].Properties
				t.Check(p.Kind == kind, "zero point %d: type %d, want %d", zero, p.Kind, kind)
				if kind == hbdnn.F32 {
					hbdnn.Fill[float32](r, -0.5, 1.25, 27.5, 1.75)
					t.Compute(r)
					hbdnn.Gives[float32](t.T, r, 0, 1, 27.5, 2)
					continue
				}
				t.Check(*cmem.At[int8](p.Zero) == int8(zero), "zero point %d is %d", zero, *cmem.At[int8](p.Zero))
				hbdnn.Fill(r, zero-1, zero, zero+2, 1000)
				t.Compute(r)
				hbdnn.Gives(t.T, r, zero, zero, zero+2, 1000)
			}
		}).
		OK("in_parts", func(t *T) {
			r := t.Prepare(codesOf(2, 200, 2, 2))
			hbdnn.Fill[float32](r, -0.5, 1.25, 27.5, 1.75)
			whole, half := r.In, r.In[0]
			half.Properties.Valid.Dims[0], half.Properties.Aligned.Dims[0] = 1, 1
			half.Mem[0].Size = 8
			next := half
			next.Mem[0].Phys, next.Mem[0].Virt = next.Mem[0].Phys+8, next.Mem[0].Virt+8
			for _, in := range [][]hbdnn.Tensor{{half, next}, whole} {
				r.In = in
				t.Compute(r)
				hbdnn.Gives[float32](t.T, r, 0, 1, 27.5, 2)
			}
			t.Check(t.In(r.Model, 0).Valid.Dims[0] == 2, "the model's batch has changed")
		}).
		No("codes", func(t *T) {
			r := t.Prepare(codes(2, 200))
			r.In[0].Properties.Kind = hbdnn.U8
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("7.d_none", "tensors of numbers have no lists").
		OK("none", func(t *T) {
			p := t.In(t.Model(hbdnn.Relu(1, 4)), 0)
			t.Check(p.Quant == 0 && p.ScaleLen == 0 && p.ZeroLen == 0 && p.ShiftLen == 0 && p.Scale|p.Zero|p.Shift == 0,
				"quantiType %d, %d scales, %d zero points, %d shifts", p.Quant, p.ScaleLen, p.ZeroLen, p.ShiftLen)
		}).
		No("null", func(t *T) { t.Bad("DNNGetInputTensorProperties", nil, t.Model(hbdnn.Relu(1, 4)), 0) }),
	rule("7.e_lists_live", "lists stay where they are as long as the pack").
		OK("same", func(t *T) {
			model := t.Model(codes(3, 1))
			a, b := t.In(model, 0), t.In(model, 0)
			t.Check(a.Scale == b.Scale && a.Zero == b.Zero && a.Scale != 0, "scales at %#x and %#x", a.Scale, b.Scale)
		}).
		No("after", func(t *T) {
			pack := t.Pack(codes(3, 1))
			model := t.Named(pack, "model")
			t.OK("DNNRelease", pack)
			t.Is(hbdnn.InvalidHandle, "DNNGetInputTensorProperties", &hbdnn.Properties{}, model, 0)
		}),
}
