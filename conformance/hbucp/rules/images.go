package rules

import (
	"encoding/binary"
	"math"
	"slices"

	rknn "github.com/anynpu/anynpu/conformance/rknn"

	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// camera is a model of NV12 frames.
func camera() *hbucp.ONNX { return hbucp.Relu(1, 3, 4, 6).Meta("anynpu.input.x.pixel", "nv12") }

// paint writes a frame of 4 x 6 pixels, rows pitch bytes apart, whose pixel is a formula of row and column.
func paint(y, uv []byte, pitch int) {
	for row := range 4 {
		for col := range 6 {
			y[row*pitch+col] = byte(40*row + 9*col)
			if row < 2 {
				uv[row*pitch+col] = byte(90 + 20*row + 7*col)
			}
		}
	}
}

// colors are the red, green and blue planes of that frame.
func colors() (out []float64) {
	for c := range 3 {
		for row := range 4 {
			for col := range 6 {
				y := float64(40*row + 9*col)
				u, v := float64(90+20*(row/2)+7*(col/2*2))-128, float64(90+20*(row/2)+7*(col/2*2+1))-128
				out = append(out, max(0, []float64{y + 1.402*v, y - 0.344136*u - 0.714136*v, y + 1.772*u}[c]))
			}
		}
	}
	return out
}

// near demands numbers in the memory of output 0 up to rounding.
func (t *T) near(r *hbucp.Run, want []float64) {
	got := hbucp.Of[float32](&r.Out[0].Mem, len(want))
	for i, w := range want {
		t.Check(math.Abs(float64(got[i])-w) < 0.51, "element %d is %v, want %v", i, got[i], w)
	}
}

var images = []*Rule{
	rule("5.5.a_nv12", "NV12 is two inputs, whose strides and size are the program's").
		OK("properties", func(t *T) {
			model := t.Model(camera())
			y, uv := t.Port(true, model, 0), t.Port(true, model, 1)
			t.Check(y.Kind == hbucp.U8 && slices.Equal(y.Valid.Sizes(), []int32{1, 4, 6, 1}) && y.Bytes == -1 &&
				slices.Equal(y.Strides(), []int64{-1, -1, 1, 1}), "y: %+v", y)
			t.Check(uv.Kind == hbucp.U8 && slices.Equal(uv.Valid.Sizes(), []int32{1, 2, 3, 2}) && uv.Bytes == -1 &&
				slices.Equal(uv.Strides(), []int64{-1, -1, 2, 1}), "uv: %+v", uv)
			name := address()
			for i, want := range []string{"x_y", "x_uv"} {
				t.OK("DNNGetInputName", name, model, i)
				t.Check(cmem.Text(*name) == want, "%q", cmem.Text(*name))
			}
		}).
		No("not_filled_in", func(t *T) {
			r := t.Prepare(camera())
			r.In[1].Properties.Stride[1] = -1
			t.Infer(hbucp.InvalidArgument, address(), r)
			t.Says("input[1]", "stride[1] is -1")
		}).
		No("odd", func(t *T) {
			t.Load(hbucp.ModelInvalid, address(), hbucp.Relu(1, 3, 5, 6).Meta("anynpu.input.x.pixel", "nv12"))
		}),
	rule("5.5.b_colors", "NV12 becomes the colors of full range, with rows of any length").
		OK("rows", func(t *T) {
			for _, pitch := range []int64{6, 8, 32, 64, 250} {
				r := t.Prepare(camera())
				for i := range 2 {
					rows := int64(4 >> i)
					r.In[i].Properties.Stride[0], r.In[i].Properties.Stride[1] = rows*pitch, pitch
					r.In[i].Mem = t.Mem(rows * pitch)
				}
				paint(hbucp.Of[byte](&r.In[0].Mem, int(4*pitch)), hbucp.Of[byte](&r.In[1].Mem, int(2*pitch)), int(pitch))
				t.Compute(r)
				t.near(r, colors())
			}
		}).
		No("short_rows", func(t *T) {
			r := t.Prepare(camera())
			r.In[0].Properties.Stride[1] = 5
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.5.c_crop", "a part of a larger image is handed over by its address and strides").
		OK("part", func(t *T) {
			const pitch, top, left = 40, 6, 10
			r := t.Prepare(camera())
			y, uv := t.Mem(20*pitch), t.Mem(10*pitch)
			paint(hbucp.Of[byte](&y, 20*pitch)[top*pitch+left:], hbucp.Of[byte](&uv, 10*pitch)[top/2*pitch+left:], pitch)
			for i, m := range []hbucp.SysMem{y, uv} {
				at := uintptr((top>>i)*pitch + left)
				r.In[i].Mem = hbucp.SysMem{Virt: m.Virt + at, Phys: m.Phys + uint64(at), Size: m.Size - uint64(at)}
				r.In[i].Properties.Stride[0], r.In[i].Properties.Stride[1] = int64(4>>i)*pitch, pitch
			}
			t.Compute(r)
			t.near(r, colors())
		}).
		No("beyond", func(t *T) {
			r := t.Prepare(camera())
			r.In[0].Mem.Virt += 32
			r.In[0].Mem.Size = 4096
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.5.d_gray", "gray is one input of rows of any length").
		OK("rows", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 1, 2, 3).Meta("anynpu.input.x.pixel", "gray").Meta("anynpu.input.x.mean", "[10]").
				Meta("anynpu.input.x.std", "[2]"))
			b := hbucp.Of[byte](&r.In[0].Mem, 64)
			copy(b, []byte{12, 14, 16, 99})
			copy(b[32:], []byte{18, 20, 22, 99})
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 1, 2, 3, 4, 5, 6)
		}).
		No("size", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 1, 2, 3).Meta("anynpu.input.x.pixel", "gray"))
			r.In[0].Properties.Valid.Dims[2] = 4
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.5.e_rgb", "color images are one tensor of bytes").
		OK("interleaved", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 3, 1, 2).Meta("anynpu.input.x.pixel", "rgb"))
			hbucp.Fill[byte](r, 1, 2, 3, 4, 5, 6)
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 1, 4, 2, 5, 3, 6)
		}).
		OK("signed", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 3, 1, 2).Meta("anynpu.input.x.pixel", "rgb").Meta("anynpu.input.x.bytes", "signed"))
			t.Check(r.In[0].Properties.Kind == hbucp.S8, "type %d", r.In[0].Properties.Kind)
			hbucp.Fill[int8](r, -128, -127, 0, 1, 126, 127)
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 0, 129, 1, 254, 128, 255)
		}).
		OK("signed_by_variable", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 3, 1, 2).Meta("anynpu.input.x.pixel", "rgb"))
			t.Check(r.In[0].Properties.Kind == hbucp.S8, "type %d", r.In[0].Properties.Kind)
			hbucp.Fill[int8](r, -128, -127, 0, 1, 126, 127)
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 0, 129, 1, 254, 128, 255)
		}).With("ANYNPU_HBDNN_BYTES=signed").
		No("type", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 3, 1, 2).Meta("anynpu.input.x.pixel", "rgb"))
			r.In[0].Properties.Kind = hbucp.S8
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.5.f_regions", "a resizer takes an image of any size and the region of it that is scaled").
		OK("names", func(t *T) {
			model, name := t.Model(camera().Meta("anynpu.input.x.source", "resizer")), address()
			for i, want := range []string{"x_y", "x_uv", "x_roi"} {
				t.OK("DNNGetInputName", name, model, i)
				t.Check(cmem.Text(*name) == want, "%q", cmem.Text(*name))
				p := t.Port(true, model, i)
				sizes := [][]int32{{1, -1, -1, 1}, {1, -1, -1, 2}, {1, 4}}[i]
				t.Check(slices.Equal(p.Valid.Sizes(), sizes), "sizes of input %d: %v, want %v", i, p.Valid.Sizes(), sizes)
			}
		}).
		OK("of_its_size", func(t *T) {
			r := t.region(4, 2, 9, 5)
			t.Compute(r)
			t.near(r, colors())
		}).
		No("edges", func(t *T) {
			r := t.region(9, 2, 4, 5)
			t.Infer(hbucp.RunFailed, nil, r)
			t.Says("left 9, top 2, right 4")
		}).
		No("outside", func(t *T) { t.Infer(hbucp.RunFailed, nil, t.region(40, 2, 45, 5)) }).
		No("chroma", func(t *T) {
			r := t.region(4, 2, 9, 5)
			r.In[1].Properties.Valid.Dims[2] = 15
			t.Infer(hbucp.InvalidArgument, address(), r)
			t.Says("input[1]", "luma")
		}).
		No("color", func(t *T) {
			t.Load(hbucp.ModelInvalid, address(), hbucp.Relu(1, 3, 4, 6).Meta("anynpu.input.x.pixel", "rgb").
				Meta("anynpu.input.x.source", "resizer"))
			t.Says("resizer")
		}).
		No("no_rows", func(t *T) {
			r := t.region(4, 2, 9, 5)
			r.In[0].Properties.Valid.Dims[1] = -1
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.5.g_batch", "the images of a batch are one tensor, or with names for each tensors of their own").
		OK("own", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 1, 2, 2).Meta("anynpu.input.x.pixel", "gray").Meta("anynpu.input.x.ports",
				`["left", "right"]`))
			t.Check(len(r.In) == 2, "%d inputs", len(r.In))
			for i := range r.In {
				b := hbucp.Of[byte](&r.In[i].Mem, 34)
				copy(b, []byte{byte(10*i + 1), byte(10*i + 2)})
				copy(b[32:], []byte{byte(10*i + 3), byte(10*i + 4)})
			}
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 1, 2, 3, 4, 11, 12, 13, 14)
		}).
		No("names", func(t *T) {
			t.Load(hbucp.ModelInvalid, address(), hbucp.Relu(2, 1, 2, 2).Meta("anynpu.input.x.pixel", "gray").
				Meta("anynpu.input.x.ports", `["a", "b", "c"]`))
		}),
	rule("5.5.h_regions_of_a_batch", "each image of a batch has a region, in a tensor of the batch or in one of its own").
		OK("one_tensor", func(t *T) {
			r := t.grays(hbucp.Relu(2, 1, 2, 3))
			t.Check(len(r.In) == 2 && slices.Equal(r.In[1].Properties.Valid.Sizes(), []int32{2, 4}), "%d inputs", len(r.In))
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 12, 13, 14, 22, 23, 24, 135, 136, 137, 145, 146, 147)
		}).
		OK("own_tensors", func(t *T) {
			names := []string{"left", "left_part", "right", "right_part"}
			r := t.grays(hbucp.Relu(2, 1, 2, 3).Meta("anynpu.input.x.ports", `["left", "left_part", "right", "right_part"]`))
			t.Check(len(r.In) == 4, "%d inputs", len(r.In))
			name := address()
			for i, want := range names {
				t.OK("DNNGetInputName", name, r.Model, i)
				t.Check(cmem.Text(*name) == want, "input %d is %q, want %q", i, cmem.Text(*name), want)
			}
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 12, 13, 14, 22, 23, 24, 135, 136, 137, 145, 146, 147)
		}).
		No("second_outside", func(t *T) {
			r := t.grays(hbucp.Relu(2, 1, 2, 3))
			copy(hbucp.Of[int32](&r.In[1].Mem, 8)[4:], []int32{60, 60, 70, 70})
			t.Infer(hbucp.RunFailed, nil, r)
			t.Says("region 1")
		}),
}

// region is the frame of paint as a part of a larger image, of which this region is taken.
func (t *T) region(left, top, right, bottom int32) *hbucp.Run {
	const height, width, pitch = 20, 32, 40
	model := t.Model(camera().Meta("anynpu.input.x.source", "resizer"))
	r := &hbucp.Run{Model: model, Out: []hbucp.Tensor{t.Tensor(false, model, 0)}}
	for i := range 2 {
		x := hbucp.Tensor{Properties: *t.Port(true, model, i)}
		x.Properties.Valid.Dims[1], x.Properties.Valid.Dims[2] = int32(height>>i), int32(width>>i)
		x.Properties.Stride[0], x.Properties.Stride[1] = int64(height>>i)*pitch, pitch
		x.Mem = t.Mem(int64(height>>i) * pitch)
		r.In = append(r.In, x)
	}
	y, uv := hbucp.Of[byte](&r.In[0].Mem, height*pitch), hbucp.Of[byte](&r.In[1].Mem, height/2*pitch)
	paint(y[2*pitch+4:], uv[pitch+4:], pitch)
	r.In = append(r.In, t.Tensor(true, model, 2))
	copy(hbucp.Of[int32](&r.In[2].Mem, 4), []int32{left, top, right, bottom})
	return r
}

// grays are two gray images of 6 x 10 pixels for a model that takes regions of 2 x 3: pixel x, y of image k is
// 100k + 10y + x, and the regions begin at 2, 1 and 5, 3.
func (t *T) grays(m *hbucp.ONNX) *hbucp.Run {
	const height, width, pitch, count = 6, 10, 16, 2
	model := t.Model(m.Meta("anynpu.input.x.pixel", "gray").Meta("anynpu.input.x.source", "resizer"))
	inputs := number()
	t.OK("DNNGetInputCount", inputs, model)
	r := &hbucp.Run{Model: model, Out: []hbucp.Tensor{t.Tensor(false, model, 0)}}
	each := count / (*inputs / 2) // images of a tensor
	for k := range *inputs / 2 {
		x := hbucp.Tensor{Properties: *t.Port(true, model, int(2*k))}
		x.Properties.Valid.Dims[1], x.Properties.Valid.Dims[2] = height, width
		x.Properties.Stride[0], x.Properties.Stride[1] = height*pitch, pitch
		x.Mem = t.Mem(int64(each) * height * pitch)
		part := t.Tensor(true, model, int(2*k)+1)
		for i := range int(each) {
			at := int(k*each) + i
			pixels := hbucp.Of[byte](&x.Mem, int(each)*height*pitch)[i*height*pitch:]
			for y := range height {
				for c := range width {
					pixels[y*pitch+c] = byte(100*at + 10*y + c)
				}
			}
			left, top := int32(2+3*at), int32(1+2*at)
			region := hbucp.Of[int32](&part.Mem, 4*int(each))[i*int(part.Properties.Stride[0])/4:]
			copy(region, []int32{left, top, left + 2, top + 1})
		}
		r.In = append(r.In, x, part)
	}
	return r
}

// scales are those of properties, and their zero points.
func scales(p *hbucp.Properties) ([]float32, []int32) {
	return slices.Clone(cmem.Span[float32](p.Scale, int(p.ScaleLen))), slices.Clone(cmem.Span[int32](p.Zero,
		int(p.ZeroLen)))
}

var quantization = []*Rule{
	rule("5.6.a_channels", "codes of 32 bits have a scale and a zero point for each channel").
		OK("listed", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 1, 2, 3).Meta("anynpu.output.y.codes",
				`{"type": "int32", "scale": [0.5, 0.25, 2], "axis": 3}`))
			p := r.Out[0].Properties
			s, z := scales(&p)
			t.Check(p.Kind == hbucp.S32 && p.Quant == 1 && p.Axis == 3 && slices.Equal(s, []float32{0.5, 0.25, 2}) &&
				slices.Equal(z, []int32{0, 0, 0}), "%+v %v %v", p, s, z)
			hbucp.Fill[float32](r, 1, 1.25, 5, 0.75, float32(math.Inf(1)), -4)
			t.Compute(r)
			hbucp.Gives[int32](t.T, r, 2, 5, 2, 2, math.MaxInt32, 0)
		}).
		OK("by_default", func(t *T) {
			p := t.Port(false, t.Model(hbucp.Relu(1, 2, 2, 5).Meta("anynpu.outputs.codes", "int32")), 0)
			s, z := scales(p)
			t.Check(p.Axis == 3 && slices.Equal(s, slices.Repeat([]float32{1. / 65536}, 5)) && len(z) == 5, "%v %v", s, z)
		}).
		No("type", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 4).Meta("anynpu.outputs.codes", "int32"))
			r.Out[0].Properties.Kind = hbucp.F32
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.6.b_nodes", "codes of QuantizeLinear and DequantizeLinear are the program's, with any zero point").
		OK("codes", func(t *T) {
			m := (&hbucp.ONNX{}).Input("q", rknn.ONNXUint8, 1, 4).Output("y", rknn.ONNXFloat, 1, 4).
				Constant("s", rknn.ONNXFloat, []byte{0, 0, 0, 0x3f}).Constant("z", rknn.ONNXUint8, []byte{200}).
				Node("DequantizeLinear", "y", "q", "s", "z")
			t.Check(t.Port(true, t.Model(m), 0).Kind == hbucp.U8, "codes of the input")
		}).
		OK("of_32_bits", func(t *T) {
			for _, zero := range []int32{3, -70000} {
				r := t.Prepare((&hbucp.ONNX{}).Input("x", rknn.ONNXFloat, 1, 3).Output("y", rknn.ONNXFloat, 1, 3).
					Constant("s", rknn.ONNXFloat, rknn.RealBytes(0.5)).
					Constant("z", rknn.ONNXInt32, binary.LittleEndian.AppendUint32(nil, uint32(zero))).
					Op("Cast", []string{"c"}, []string{"x"}, rknn.Attrs{"to": 6}).Node("DequantizeLinear", "y", "c", "s", "z"))
				p := r.Out[0].Properties
				s, z := scales(&p)
				t.Check(p.Kind == hbucp.S32 && slices.Equal(s, []float32{0.5, 0.5, 0.5}) &&
					slices.Equal(z, []int32{zero, zero, zero}), "type %d, %v %v", p.Kind, s, z)
				hbucp.Fill(r, 7, -70000, float32(zero))
				t.Compute(r)
				hbucp.Gives[int32](t.T, r, 7, -70000, zero)
			}
		}).
		No("numbers", func(t *T) {
			p := t.Port(true, t.Model(hbucp.Relu(1, 4)), 0)
			t.Check(p.Quant == 0 && p.ScaleLen == 0 && p.Scale == 0 && p.Zero == 0, "%+v", p)
			t.Judged(false)
		}),
	rule("5.6.c_lists_live", "scales live as long as the pack").
		OK("again", func(t *T) {
			model := t.Model(hbucp.Relu(1, 4).Meta("anynpu.outputs.codes", "int32"))
			a, b := t.Port(false, model, 0), t.Port(false, model, 0)
			t.Check(a.Scale == b.Scale && a.Zero == b.Zero && a.Scale != 0, "%#x and %#x", a.Scale, b.Scale)
		}).
		No("ended", func(t *T) {
			pack := t.Pack(hbucp.Relu(1, 4))
			model := t.Named(pack, t.Names(pack)[0])
			t.OK("DNNRelease", pack)
			t.Bad("DNNGetOutputTensorProperties", &hbucp.Properties{}, model, 0)
		}),
}
