package onnx

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// Before opset 11 the nearest cell is o/scale, rounded up where an axis shrinks and down where it grows. The values for
// 0.6 and 0.8 are the ONNX project's own, of its release 1.5; the others follow from the rule.
func TestResize_nearestBeforeOpset11(t *testing.T) {
	x := []float32{1, 2, 3, 4}
	for _, c := range []struct {
		scale float32
		want  []float32
	}{
		{0.6, []float32{1, 3}}, {0.8, []float32{1, 3, 4}}, {0.75, []float32{1, 3, 4}}, {0.5, []float32{1, 3}}, {1, x},
		{1.5, []float32{1, 1, 2, 3, 3, 4}}, {2.5, []float32{1, 1, 1, 2, 2, 3, 3, 3, 4, 4}},
	} {
		for _, op := range []string{"Resize 10", "Upsample 9", "Upsample 7"} {
			t.Run(fmt.Sprint(op, " ", c.scale), func(t *testing.T) {
				var name string
				var version uint64
				fmt.Sscan(op, &name, &version)
				in, attrs := []string{"image", "scales"}, []msg{textAttr("mode", "nearest")}
				scales := tensor.Float32s(1, 1, 1, c.scale)
				if version == 7 {
					list := msg(nil).str(1, "scales")
					for _, s := range []float32{1, 1, 1, c.scale} {
						list = append(append(list, 7<<3|5), tensor.Float32s(s)...)
					}
					in, attrs = in[:1], append(attrs, list.num(20, proto.AttrFloats))
				}
				shape := tensor.Int64s(1, 1, 1, 4)
				graph := graphMsg([]msg{nodeMsg("Reshape", []string{"x", "shape"}, []string{"image"}),
					nodeMsg(name, in, []string{"y"}, attrs...)}, input("x", 1, 1, 4), output("y"),
					initial(tensorMsg("scales", []int64{4}, scales)),
					initial(msg(nil).num(1, 4).num(2, 7).str(8, "shape").str(9, string(shape))))
				for _, got := range computedBoth(t, msg(nil).num(1, 5).sub(7, graph).sub(8, msg(nil).num(2, version)), x) {
					assert.Equal(t, c.want, got)
				}
			})
		}
	}
}

// Lengths whose halves float32 misses: 14 to 19 cells of half pixels, cell 9 is at 6.5.
func TestResize_nearestAtHalves(t *testing.T) {
	x := make([]float32, 14)
	for i := range x {
		x[i] = float32(i)
	}
	for mode, want := range map[string]float32{"round_prefer_floor": 6, "round_prefer_ceil": 7} {
		node := nodeMsg("Resize", []string{"x", "", "", "sizes"}, []string{"y"}, textAttr("nearest_mode", mode))
		graph := graphMsg([]msg{node}, input("x", 1, 1, 14), output("y"),
			initial(msg(nil).num(1, 3).num(2, 7).str(8, "sizes").str(9, string(tensor.Int64s(1, 1, 19)))))
		for _, got := range computedBoth(t, msg(nil).num(1, 9).sub(7, graph).sub(8, msg(nil).num(2, 19)), x) {
			assert.Equal(t, want, got[9], mode)
		}
	}
}
