package rules

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
)

// places tells for each element of a tensor of 2 x 3 x 4 x 5 (N, H, W, C) its own place, NHWC as decimal digits, in the
// order of a layout.
func places(layout int32) (shape hbdnn.Shape, out []uint16) {
	sizes := [4]int32{2, 3, 4, 5}
	order := map[int32][4]int{hbdnn.NHWC: {0, 1, 2, 3}, hbdnn.NHCW: {0, 1, 3, 2}, hbdnn.NCHW: {0, 3, 1, 2}}[layout]
	var dims [4]int32
	for i, axis := range order {
		dims[i] = sizes[axis]
	}
	for i := range dims[0] * dims[1] * dims[2] * dims[3] {
		var at [4]int32
		rest := i
		for k := 3; k >= 0; k-- {
			at[order[k]] = rest % dims[k]
			rest /= dims[k]
		}
		out = append(out, uint16(1000*at[0]+100*at[1]+10*at[2]+at[3]))
	}
	return hbdnn.ShapeOf(dims[:]...), out
}

var layouts = []int32{hbdnn.NHWC, hbdnn.NHCW, hbdnn.NCHW}

func conversions() (list []*Rule) {
	for i, from := range layouts {
		for k, to := range layouts {
			list = append(list, rule(fmt.Sprintf("2.l%c%c_layout", 'a'+i, 'a'+k),
				fmt.Sprintf("hbDNNConvertLayout turns layout %d "+
					"to %d", from, to)).
				OK("elements", func(t *T) {
					shape, in := places(from)
					_, want := places(to)
					out := make([]uint16, len(in))
					t.ByValue(0, "DNNConvertLayout", out, to, in, from, hbdnn.U16, &shape, false)
					t.Check(slices.Equal(out, want), "got %v", out)
				}).
				No("shape", func(t *T) {
					shape, in := places(from)
					for _, rank := range []int32{0, 3, 5, -1} {
						shape.Rank = rank
						t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayout", make([]uint16, len(in)), to, in, from, hbdnn.U16, &shape,
							false)
					}
				}))
		}
	}
	return append(append(list, helpers...), formerHelpers...)
}

var helpers = []*Rule{
	rule("2.d_layouts", "layouts to convert are NHWC, NHCW_NATIVE and NCHW").
		OK("native", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			t.ByValue(0, "DNNConvertLayout", make([]uint16, 120), hbdnn.NHCW, in, hbdnn.NHWC, hbdnn.U16, &shape, false)
		}).
		No("others", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			out := make([]uint16, 120)
			for _, bad := range []int32{hbdnn.None, 3, -1} {
				t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayout", out, bad, in, hbdnn.NHWC, hbdnn.U16, &shape, false)
				t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayout", out, hbdnn.NHWC, in, bad, hbdnn.U16, &shape, false)
			}
		}),
	rule("2.e_element_sizes", "elements of 1, 2, 4 and 8 bytes are moved whole").
		OK("sizes", func(t *T) {
			shape := hbdnn.ShapeOf(1, 1, 2, 2)
			for kind, n := range map[int32]int{hbdnn.S8: 1, hbdnn.F16: 2, hbdnn.S32: 4, hbdnn.F64: 8} {
				var in, want []byte
				for i := range 4 {
					for b := range n {
						in, want = append(in, byte(10*i+b)), append(want, byte(10*[]int{0, 2, 1, 3}[i]+b))
					}
				}
				out := make([]byte, len(in))
				t.ByValue(0, "DNNConvertLayout", out, hbdnn.NCHW, in, hbdnn.NHWC, kind, &shape, false)
				t.Check(slices.Equal(out, want), "type %d: got %v", kind, out)
			}
		}).
		No("types", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			for _, kind := range []int32{hbdnn.S4, hbdnn.Y, hbdnn.RGB, -1, 19, 99} {
				t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayout", make([]uint16, 120), hbdnn.NHWC, in, hbdnn.NHWC, kind, &shape,
					false)
			}
		}),
	rule("2.f_turned_bytes", "the bytes of each element are turned around where the call says so").
		OK("turned", func(t *T) {
			shape := hbdnn.ShapeOf(1, 1, 1, 2)
			out := make([]uint32, 2)
			t.ByValue(0, "DNNConvertLayout", out, hbdnn.NHWC, []uint32{0x01020304, 5}, hbdnn.NHWC, hbdnn.S32, &shape, true)
			t.Check(out[0] == 0x04030201 && out[1] == 5<<24, "got %#x", out)
		}).
		No("null", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayout", nil, hbdnn.NHWC, in, hbdnn.NHWC, hbdnn.U16, &shape, true)
			t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayout", make([]uint16, 120), hbdnn.NHWC, nil, hbdnn.NHWC, hbdnn.U16,
				&shape, true)
		}),
	rule("2.g_part", "hbDNNConvertLayoutRoi turns a part; coordinates and sizes are in the order N, H, W, C").NotIn("1.9").
		OK("part", func(t *T) {
			for _, from := range layouts {
				shape, in := places(from)
				at, size := hbdnn.ShapeOf(1, 2, 1, 3), hbdnn.ShapeOf(1, 1, 2, 2)
				out := make([]uint16, 4)
				t.ByValue(0, "DNNConvertLayoutRoi", out, hbdnn.NHWC, in, from, hbdnn.U16, &shape, false, &at, &size)
				t.Check(slices.Equal(out, []uint16{1213, 1214, 1223, 1224}), "from %d: got %v", from, out)
			}
		}).
		No("outside", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			for axis := range 4 {
				at, size := hbdnn.ShapeOf(0, 0, 0, 0), hbdnn.ShapeOf(1, 1, 1, 1)
				at.Dims[axis] = shape.Dims[axis]
				t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayoutRoi", make([]uint16, 4), hbdnn.NHWC, in, hbdnn.NHWC, hbdnn.U16,
					&shape, false, &at, &size)
				at.Dims[axis] = -1
				t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayoutRoi", make([]uint16, 4), hbdnn.NHWC, in, hbdnn.NHWC, hbdnn.U16,
					&shape, false, &at, &size)
			}
		}),
	rule("2.h_plane", "hbDNNConvertLayoutToNative1HW1 takes one channel").
		OK("plane", func(t *T) {
			for _, from := range layouts {
				shape, in := places(from)
				out := make([]uint16, 12)
				t.ByValue(0, "DNNConvertLayoutToNative1HW1", out, in, from, hbdnn.U16, &shape, false, 1, 4)
				want := []uint16{1004, 1014, 1024, 1034, 1104, 1114, 1124, 1134, 1204, 1214, 1224, 1234}
				t.Check(slices.Equal(out, want), "from %d: got %v", from, out)
			}
		}).
		No("outside", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			for _, at := range [][2]uint32{{2, 0}, {0, 5}, {1 << 31, 0}, {0, 1<<32 - 1}} {
				t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayoutToNative1HW1", make([]uint16, 12), in, hbdnn.NHWC, hbdnn.U16,
					&shape, false, at[0], at[1])
			}
		}),
	rule("2.i_pixel", "hbDNNConvertLayoutToNative111C takes the channels of one pixel").
		OK("pixel", func(t *T) {
			for _, from := range layouts {
				shape, in := places(from)
				out := make([]uint16, 5)
				t.ByValue(0, "DNNConvertLayoutToNative111C", out, in, from, hbdnn.U16, &shape, false, 0, 2, 3)
				t.Check(slices.Equal(out, []uint16{230, 231, 232, 233, 234}), "from %d: got %v", from, out)
			}
		}).
		No("outside", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			for _, at := range [][3]uint32{{2, 0, 0}, {0, 3, 0}, {0, 0, 4}} {
				t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayoutToNative111C", make([]uint16, 5), in, hbdnn.NHWC, hbdnn.U16,
					&shape, false, at[0], at[1], at[2])
			}
		}),
	rule("2.j_element", "hbDNNConvertLayoutToNative1111 takes one element").NotIn("1.9").
		OK("element", func(t *T) {
			for _, from := range layouts {
				shape, in := places(from)
				at, out := hbdnn.ShapeOf(1, 2, 3, 4), make([]uint16, 1)
				t.ByValue(0, "DNNConvertLayoutToNative1111", out, in, from, hbdnn.U16, &shape, false, &at)
				t.Check(out[0] == 1234, "from %d: got %v", from, out)
			}
		}).
		No("outside", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			at := hbdnn.ShapeOf(1, 2, 3, 5)
			t.ByValue(hbdnn.InvalidArgument, "DNNConvertLayoutToNative1111", make([]uint16, 1), in, hbdnn.NHWC, hbdnn.U16,
				&shape, false, &at)
		}),
	rule("2.k_padding", "hbDNNAddPadding fills up with zeros, hbDNNRemovePadding takes them away").
		OK("both", func(t *T) {
			small, large := hbdnn.ShapeOf(1, 2, 1, 3), hbdnn.ShapeOf(1, 2, 2, 4)
			in, out, back := []int8{1, 2, 3, 4, 5, 6}, make([]int8, 16), make([]int8, 6)
			for i := range out {
				out[i] = 99
			}
			t.ByValue(0, "DNNAddPadding", out, &large, in, &small, hbdnn.S8)
			t.Check(slices.Equal(out, []int8{1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0}), "got %v", out)
			t.ByValue(0, "DNNRemovePadding", back, &small, out, &large, hbdnn.S8)
			t.Check(slices.Equal(back, in), "got %v", back)
		}).
		No("smaller", func(t *T) {
			small, large := hbdnn.ShapeOf(1, 2, 1, 3), hbdnn.ShapeOf(1, 2, 2, 4)
			in := make([]int8, 16)
			t.ByValue(hbdnn.InvalidArgument, "DNNAddPadding", in, &small, in, &large, hbdnn.S8)
			t.ByValue(hbdnn.InvalidArgument, "DNNRemovePadding", in, &large, in, &small, hbdnn.S8)
		}).
		No("shapes", func(t *T) {
			in, good := make([]int8, 16), hbdnn.ShapeOf(1, 1, 1, 3)
			for _, bad := range []hbdnn.Shape{hbdnn.ShapeOf(3), hbdnn.ShapeOf(1, 1, 1, 0), hbdnn.ShapeOf(1, 1, -1, 3)} {
				t.ByValue(hbdnn.InvalidArgument, "DNNAddPadding", in, &bad, in, &good, hbdnn.S8)
				t.ByValue(hbdnn.InvalidArgument, "DNNRemovePadding", in, &good, in, &bad, hbdnn.S8)
			}
		}),
	rule("2.m_strides", "padding is added and removed by strides in bytes, too").
		OK("both", func(t *T) {
			in, out, back := []uint16{1, 2, 3, 4, 5, 6}, make([]uint16, 9), make([]uint16, 6)
			out[8] = 77
			t.OK("DNNAddPaddingWithStride", out, in, 2, []uint32{2, 3}, []int32{8, 2}, 2)
			t.Check(slices.Equal(out, []uint16{1, 2, 3, 0, 4, 5, 6, 0, 77}), "got %v", out)
			t.OK("DNNRemovePaddingWithStride", back, out, 2, []uint32{2, 3}, []int32{8, 2}, 2)
			t.Check(slices.Equal(back, in), "got %v", back)
		}).
		No("values", func(t *T) {
			in, out := make([]uint16, 64), make([]uint16, 64)
			for _, f := range []string{"DNNAddPaddingWithStride", "DNNRemovePaddingWithStride"} {
				t.Bad(f, out, in, 2, []uint32{2, 3}, []int32{4, 2}, 2)
				t.Bad(f, out, in, 2, []uint32{2, 0}, []int32{8, 2}, 2)
				t.Bad(f, out, in, 2, []uint32{2, 3}, []int32{8, -2}, 2)
				t.Bad(f, out, in, 2, []uint32{2, 3}, []int32{8, 2}, 0)
				t.Bad(f, out, in, 0, []uint32{2, 3}, []int32{8, 2}, 2)
				t.Bad(f, out, in, 9, make([]uint32, 9), make([]int32, 9), 2)
				t.Bad(f, nil, in, 2, []uint32{2, 3}, []int32{8, 2}, 2)
				t.Bad(f, out, nil, 2, []uint32{2, 3}, []int32{8, 2}, 2)
				t.Bad(f, out, in, 2, nil, []int32{8, 2}, 2)
				t.Bad(f, out, in, 2, []uint32{2, 3}, nil, 2)
			}
		}),
	rule("2.n_endianness", "hbDNNConvertEndianness turns bytes around, also in place").
		OK("both", func(t *T) {
			in, out := []byte{1, 2, 3, 4}, make([]byte, 4)
			t.OK("DNNConvertEndianness", out, in, 4)
			t.Check(slices.Equal(out, []byte{4, 3, 2, 1}), "got %v", out)
			t.OK("DNNConvertEndianness", in, in, 4)
			t.Check(slices.Equal(in, out), "got %v", in)
		}).
		No("values", func(t *T) {
			in := make([]byte, 8)
			t.Bad("DNNConvertEndianness", in, in[1:], 4)
			t.Bad("DNNConvertEndianness", in, in, 0)
			t.Bad("DNNConvertEndianness", nil, in, 4)
			t.Bad("DNNConvertEndianness", in, nil, 4)
		}),
	rule("7.f_unquantize", "hbDNNUnquantizeByScale multiplies by the scale of the last dimension's index").NotIn("1.9").
		OK("types", func(t *T) {
			shape, scales := hbdnn.ShapeOf(1, 1, 2, 2), []float32{0.5, 2}
			want := []float32{-0.5, 4, 1.5, -256}
			for kind, in := range map[int32]any{hbdnn.S8: []int8{-1, 2, 3, -128}, hbdnn.S16: []int16{-1, 2, 3, -128},
				hbdnn.S32: []int32{-1, 2, 3, -128}} {
				out := make([]float32, 4)
				t.ByValue(0, "DNNUnquantizeByScale", out, kind, &shape, scales, in)
				t.Check(slices.Equal(out, want), "type %d: got %v", kind, out)
			}
		}).
		OK("unsigned", func(t *T) {
			shape, out := hbdnn.ShapeOf(2), make([]float32, 2)
			t.ByValue(0, "DNNUnquantizeByScale", out, hbdnn.U16, &shape, []float32{1, 2}, []uint16{65535, 3})
			t.Check(out[0] == 65535 && out[1] == 6, "got %v", out)
		}).
		No("values", func(t *T) {
			shape, none, negative := hbdnn.ShapeOf(1, 2), hbdnn.ShapeOf(), hbdnn.ShapeOf(1, -2)
			scales, in, out := []float32{1, 2}, []int8{1, 2}, make([]float32, 2)
			for _, kind := range []int32{hbdnn.F32, hbdnn.F16, hbdnn.S64, hbdnn.Y, 99} {
				t.ByValue(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, kind, &shape, scales, in)
			}
			t.ByValue(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, &none, scales, in)
			t.ByValue(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, &negative, scales, in)
			t.ByValue(hbdnn.InvalidArgument, "DNNUnquantizeByScale", nil, hbdnn.S8, &shape, scales, in)
			t.ByValue(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, &shape, nil, in)
			t.ByValue(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, &shape, scales, nil)
		}),
}
