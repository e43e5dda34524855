package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
)

// formerRule is a rule of the mode 1.9 alone, whose programs pass other arguments.
func formerRule(id, says string) *Rule {
	r := rule(id, says)
	for _, m := range hbdnn.Modes {
		if m.Name != "1.9" {
			r.NotIn(m.Name)
		}
	}
	return r
}

var formerHelpers = []*Rule{
	formerRule("2.p_former_part", "up to 1.9 hbDNNConvertLayoutRoi has a region, with its edges, of all images and "+
		"channels").
		OK("rows_and_columns", func(t *T) {
			box := hbdnn.Roi{Left: 1, Top: 2, Right: 3, Bottom: 2}
			var want []uint16
			for n := range 2 {
				for w := 1; w <= 3; w++ {
					for c := range 5 {
						want = append(want, uint16(1000*n+200+10*w+c))
					}
				}
			}
			for _, from := range layouts {
				shape, in := places(from)
				out := make([]uint16, len(want))
				t.Former(0, "DNNConvertLayoutRoi", out, hbdnn.NHWC, in, from, hbdnn.U16, &shape, false, &box)
				t.Check(slices.Equal(out, want), "from %d: got %v", from, out)
			}
		}).In("1.9").
		OK("turned_bytes", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			out, all := make([]uint16, 120), hbdnn.Roi{Right: 3, Bottom: 2}
			t.Former(0, "DNNConvertLayoutRoi", out, hbdnn.NHWC, in, hbdnn.NHWC, hbdnn.U16, &shape, true, &all)
			for i, v := range in {
				t.Check(out[i] == v>>8|v<<8, "element %d: got %#x for %#x", i, out[i], v)
			}
		}).In("1.9").
		No("outside", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			for _, box := range []hbdnn.Roi{{Right: 4}, {Bottom: 3}, {Left: -1}, {Top: -1}, {Left: 2, Right: 1},
				{Top: 2, Bottom: 1}} {
				t.Former(hbdnn.InvalidArgument, "DNNConvertLayoutRoi", make([]uint16, 240), hbdnn.NHWC, in, hbdnn.NHWC,
					hbdnn.U16, &shape, false, &box)
			}
		}).In("1.9").
		No("null", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			box, bad, out := hbdnn.Roi{}, hbdnn.InvalidArgument, make([]uint16, 10)
			t.Former(bad, "DNNConvertLayoutRoi", nil, hbdnn.NHWC, in, hbdnn.NHWC, hbdnn.U16, &shape, false, &box)
			t.Former(bad, "DNNConvertLayoutRoi", out, hbdnn.NHWC, nil, hbdnn.NHWC, hbdnn.U16, &shape, false, &box)
			t.Former(bad, "DNNConvertLayoutRoi", out, hbdnn.None, in, hbdnn.NHWC, hbdnn.U16, &shape, false, &box)
		}).In("1.9"),
	formerRule("2.q_former_element", "up to 1.9 hbDNNConvertLayoutToNative1111 has a region, of which it takes the left "+
		"top corner").
		OK("corner", func(t *T) {
			for _, from := range layouts {
				shape, in := places(from)
				out := make([]uint16, 1)
				t.Former(0, "DNNConvertLayoutToNative1111", out, in, from, hbdnn.U16, &shape, false,
					&hbdnn.Roi{Left: 3, Top: 2, Right: 3, Bottom: 2})
				t.Check(out[0] == 230, "from %d: got %v", from, out)
			}
		}).In("1.9").
		No("outside", func(t *T) {
			shape, in := places(hbdnn.NHWC)
			for _, box := range []hbdnn.Roi{{Left: 4}, {Top: 3}, {Left: -1}, {Top: -1}} {
				t.Former(hbdnn.InvalidArgument, "DNNConvertLayoutToNative1111", make([]uint16, 1), in, hbdnn.NHWC, hbdnn.U16,
					&shape, false, &box)
			}
		}).In("1.9"),
	formerRule("7.g_former_unquantize", "up to 1.9 hbDNNUnquantizeByScale multiplies by the scale of the channel, whose "+
		"place a layout tells").
		OK("layouts", func(t *T) {
			scales := []float32{1, 2, 0.5, -1, 4}
			for _, layout := range layouts {
				shape, in := places(layout)
				out := make([]float32, len(in))
				t.Former(0, "DNNUnquantizeByScale", out, hbdnn.U16, layout, &shape, scales, in)
				for i, v := range in {
					want := float32(v) * scales[v%10] // the last digit is the channel
					t.Check(out[i] == want, "layout %d, element %d: got %v, want %v", layout, i, out[i], want)
				}
			}
		}).In("1.9").
		OK("last_dimension", func(t *T) {
			for _, layout := range []int32{hbdnn.NHWC, hbdnn.None} {
				shape, out := hbdnn.ShapeOf(2, 2), make([]float32, 4)
				t.Former(0, "DNNUnquantizeByScale", out, hbdnn.S8, layout, &shape, []float32{0.5, 2}, []int8{-1, 2, 3, -128})
				t.Check(slices.Equal(out, []float32{-0.5, 4, 1.5, -256}), "layout %d: got %v", layout, out)
			}
		}).In("1.9").
		No("values", func(t *T) {
			shape, flat := hbdnn.ShapeOf(1, 2, 1, 1), hbdnn.ShapeOf(1, 2)
			scales, in, out := []float32{1, 2}, []int8{1, 2}, make([]float32, 2)
			for _, layout := range []int32{3, -1, 256} {
				t.Former(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, layout, &shape, scales, in)
			}
			t.Former(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, hbdnn.NCHW, &flat, scales, in)
			t.Former(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.F32, hbdnn.NCHW, &shape, scales, in)
			t.Former(hbdnn.InvalidArgument, "DNNUnquantizeByScale", nil, hbdnn.S8, hbdnn.NCHW, &shape, scales, in)
			t.Former(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, hbdnn.NCHW, &shape, nil, in)
			t.Former(hbdnn.InvalidArgument, "DNNUnquantizeByScale", out, hbdnn.S8, hbdnn.NCHW, &shape, scales, nil)
		}).In("1.9"),
}
