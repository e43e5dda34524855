package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// stored is what metadata say of a tensor of real numbers that the board stores in one of these shapes.
func stored(native ...[]int) map[string]any {
	return map[string]any{"type": "float16", "native": native}
}

var native = []*Rule{
	rule("3.un_native_of_metadata", "an input or output has the native layout in which the metadata have the board store "+
		"it: NC1HWC2 of any groups that hold its channels and little more, NHWC or NCHW; one that cannot be the tensor's "+
		"counts for nothing").
		OK("groups", func(t *T) {
			for _, c1c2 := range [][2]int{{3, 8}, {2, 16}, {5, 4}, {17, 1}, {19, 1}, {1, 17}, {4, 8}, {13, 16}, {1, 64},
				{3, 64}} {
				c1, c2 := c1c2[0], c1c2[1]
				ctx := t.Open(relu(1, 17, 4, 5).Meta("anynpu.value.y.stored", stored([]int{1, c1, 4, 5, c2})), 0)
				t.wants(ctx, 0, "y", wantAttr{cmd: queryNativeOutput, dims: []uint32{1, uint32(c1), 4, 5, uint32(c2)},
					format: nc1hwc2, kind: float16T, qnt: qntAffine, size: 2 * c1 * c2 * 20, scale: 1})
			}
		}).
		OK("no_groups_of_the_tensor", func(t *T) {
			for _, shape := range [][]int{{1, 4, 4, 5, 4}, {1, 16, 4, 5, 1}, {1, 20, 4, 5, 1}, {1, 1, 4, 5, 65},
				{1, 14, 4, 5, 16}, {1, 4, 4, 5, 64}, {1, 3, 5, 4, 8}, {1, 3, 4, 6, 8}, {1, 0, 4, 5, 8}, {1, 5, 4, 17},
				{1, 4, 4, 17}, {1, 17, 20}, {1, 17, 5, 4}, {}} {
				ctx := t.Open(relu(1, 17, 4, 5).Meta("anynpu.value.y.stored", stored(shape)), 0)
				got := t.Attr(ctx, queryNativeOutput, 0)
				t.Check(slices.Equal(got.Shape(), []uint32{1, 3, 4, 5, 8}) && got.Format == nc1hwc2, "%v: dims %v in format %d",
					shape, got.Shape(), got.Format)
			}
		}).
		OK("rows", func(t *T) {
			want := wantAttr{cmd: queryNativeOutput, dims: []uint32{1, 4, 5, 17}, format: nhwc, kind: float16T, qnt: qntAffine,
				size: 680, scale: 1}
			t.wants(t.Open(relu(1, 17, 4, 5).Meta("anynpu.value.y.stored", stored([]int{1, 4, 5, 17})), 0), 0, "y", want)
			want.dims, want.format = []uint32{1, 17, 4, 5}, nchw
			t.wants(t.Open(relu(1, 17, 4, 5).Meta("anynpu.value.y.stored", stored([]int{1, 17, 4, 5})), 0), 0, "y", want)
		}).
		OK("the_first_that_fits", func(t *T) {
			m := relu(1, 17, 4, 5).Meta("anynpu.value.y.stored", stored([]int{1, 5, 8, 5, 4}, []int{1, 5, 4, 5, 4},
				[]int{1, 2, 4, 5, 16}))
			got := t.Attr(t.Open(m, 0), queryNativeOutput, 0).Shape()
			t.Check(slices.Equal(got, []uint32{1, 5, 4, 5, 4}), "dims %v", got)
		}).
		OK("input", func(t *T) {
			ctx := t.Open(relu(1, 17, 4, 5).Meta("anynpu.value.x.stored", stored([]int{1, 5, 4, 5, 4})), 0)
			t.wants(ctx, 0, "x", wantAttr{cmd: queryNativeInput, dims: []uint32{1, 5, 4, 5, 4}, format: nc1hwc2,
				kind: float16T, qnt: qntAffine, size: 800, scale: 1})
			general := wantAttr{cmd: queryNativeInput, dims: []uint32{1, 4, 5, 17}, format: nhwc, kind: float16T, qnt: qntAffine,
				size: 680, wStride: 5, scale: 1}
			for _, shape := range [][]int{{1, 1, 4, 5, 17}, {1, 4, 5, 17}, {1, 17, 4, 5}} {
				t.wants(t.Open(relu(1, 17, 4, 5).Meta("anynpu.value.x.stored", stored(shape)), 0), 0, "x", general)
			}
		}).
		OK("results", func(t *T) {
			const c, h, w = 11, 2, 3
			src := make([]int8, c*h*w)
			for i := range src {
				src[i] = int8(i + 1)
			}
			for _, shape := range [][]int{{1, 3, h, w, 4}, {1, 12, h, w, 1}, {1, 1, h, w, 16}, {1, h, w, c}, {1, c, h, w}} {
				ctx := t.Open(relu(1, c, h, w).Meta("anynpu.value.y.stored", stored(shape)), 0)
				a := t.Attr(ctx, queryNativeOutput, 0)
				t.Set(ctx, uint8T, nhwc, cmem.Bytes(src))
				got := cmem.As[float32](t.boundTo(ctx, a, float32T, -1))
				lanes := map[uint32]int{nhwc: c, nchw: 1}[a.Format]
				if a.Format == nc1hwc2 {
					lanes = int(a.Dims[4])
				}
				for k, v := range got {
					channel, pixel, want := k/(h*w*lanes)*lanes+k%lanes, k/lanes%(h*w), float32(0)
					if channel < c {
						want = float32(pixel*c + channel + 1)
					}
					t.Check(v == want, "%v: element %d is %g, want %g", shape, k, v, want)
				}
			}
		}).
		No("small", func(t *T) {
			ctx := t.Open(relu(1, 17, 4, 5).Meta("anynpu.value.y.stored", stored([]int{1, 5, 4, 5, 4})), 0)
			a := t.Attr(ctx, queryNativeOutput, 0)
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 799)), a)
		}),
}
