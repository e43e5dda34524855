package onnx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Dimensions that tools name ?, None, -1 or not at all are sizes of their own each: 1 x 3 x 4 x 6 is taken.
func TestImport_placeholdersAreNoNames(t *testing.T) {
	for _, name := range []string{"?", "None", "-1", ""} {
		shape := msg(nil)
		for range 3 {
			shape = shape.sub(1, msg(nil).str(2, name))
		}
		shape = shape.sub(1, msg(nil).str(2, "N"))
		in := msg(nil).sub(11, msg(nil).str(1, "x").sub(2, msg(nil).sub(1, msg(nil).num(1, 1).sub(2, shape))))
		w := mem.NewWeights()
		m, err := Import(modelMsg(graphMsg([]msg{nodeMsg("Relu", []string{"x"}, []string{"y"})}, in, output("y"))),
			Options{Weights: w})
		require.NoError(t, err)
		assert.Equal(t, []string{"N"}, m.Symbols, "%q", name)
		x := tensor.New(tensor.Float32, 1, 3, 4, 6)
		_, err = ref.Run(context.Background(), m.Graph, []tensor.Tensor{x})
		assert.NoError(t, err, "%q", name)
		w.Release()
	}
}

// A condition, a number of trips, a limit and the like is one element, of whatever rank.
func TestImport_singleElementsOfAnyRank(t *testing.T) {
	scalar := func(name string, elem uint64, data []byte) msg {
		return initial(msg(nil).num(1, 1).num(1, 1).num(2, elem).str(8, name).str(9, string(data)))
	}
	open := func(name string, elem uint64) msg {
		shape := msg(nil).sub(1, msg(nil).num(1, 1)).sub(1, msg(nil).num(1, 1))
		return msg(nil).sub(11, msg(nil).str(1, name).sub(2, msg(nil).sub(1, msg(nil).num(1, elem).sub(2, shape))))
	}
	branch := func(attr, op string) msg {
		return msg(nil).str(1, attr).sub(6, graphMsg([]msg{nodeMsg(op, []string{"x"}, []string{"b"})}, output("b"))).
			num(20, proto.AttrGraph)
	}
	body := msg(nil).str(1, "body").sub(6, graphMsg([]msg{nodeMsg("Identity", []string{"c"}, []string{"d"}),
		nodeMsg("Add", []string{"v", "v"}, []string{"w"})},
		msg(nil).sub(11, msg(nil).str(1, "i")), msg(nil).sub(11, msg(nil).str(1, "c")),
		msg(nil).sub(11, msg(nil).str(1, "v")),
		output("d"), output("w"))).num(20, proto.AttrGraph)
	choose := nodeMsg("If", []string{"s"}, []string{"y"}, branch("then_branch", "Abs"), branch("else_branch", "Neg"))
	x := []float32{-1, 2, 3}
	for _, c := range []struct {
		name string
		node msg
		elem uint64
		data []byte
		want []float32
	}{
		{"If true", choose, 9, []byte{1}, []float32{1, 2, 3}},
		{"If false", choose, 9, []byte{0}, []float32{1, -2, -3}},
		{"Loop trips", nodeMsg("Loop", []string{"s", "", "x"}, []string{"y"}, body), 7, tensor.Int64s(2),
			[]float32{-4, 8, 12}},
		{"Clip", nodeMsg("Clip", []string{"x", "s"}, []string{"y"}), 1, tensor.Float32s(1), []float32{1, 2, 3}},
		{"CumSum", nodeMsg("CumSum", []string{"x", "s"}, []string{"y"}), 7, tensor.Int64s(0), []float32{-1, 1, 4}},
		{"TopK", nodeMsg("TopK", []string{"x", "s"}, []string{"y", ""}), 7, tensor.Int64s(2), []float32{3, 2}},
		{"Range", nodeMsg("Range", []string{"zero", "s", "one"}, []string{"y"}), 1, tensor.Float32s(3), []float32{0, 1, 2}},
		{"Pad", nodeMsg("Pad", []string{"x", "pads", "s"}, []string{"y"}), 1, tensor.Float32s(9), []float32{9, -1, 2, 3}},
	} {
		for _, known := range []bool{true, false} {
			fields := []msg{input("x", 3), output("y"), initial(tensorMsg("zero", nil, tensor.Float32s(0))),
				initial(tensorMsg("one", nil, tensor.Float32s(1))),
				initial(msg(nil).num(1, 2).num(2, 7).str(8, "pads").str(9, string(tensor.Int64s(1, 0))))}
			in := []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{3}, Data: tensor.Float32s(x...)}}
			if known {
				fields = append(fields, scalar("s", c.elem, c.data))
			} else {
				types := map[uint64]tensor.DType{1: tensor.Float32, 7: tensor.Int64, 9: tensor.Bool}
				fields, in = append(fields, open("s", c.elem)), append(in, tensor.Tensor{DType: types[c.elem],
					Dims: []int64{1, 1}, Data: c.data})
			}
			w := mem.NewWeights()
			m, err := Import(modelMsg(graphMsg([]msg{c.node}, fields...)), Options{Weights: w})
			if assert.NoError(t, err, "%s, known %v", c.name, known) {
				got, err := ref.Run(context.Background(), m.Graph, in)
				require.NoError(t, err, c.name)
				y, err := tensor.ReadFloat32s(got[0].Data, len(c.want))
				require.NoError(t, err, c.name)
				assert.Equal(t, c.want, y, "%s, known %v", c.name, known)
			}
			w.Release()
		}
	}
}

// The same holds of numbers whose rank only a run tells, and of every operator that takes one element.
func TestImport_singleElementsOfARun(t *testing.T) {
	given := func(name string, elem uint64, dims ...int64) msg { return ofType(11, name, elem, dims...) }
	one := func(d tensor.DType, data []byte) tensor.Tensor {
		return tensor.Tensor{DType: d, Dims: []int64{1, 1}, Data: data}
	}
	steps := modelMsg(graphMsg([]msg{nodeMsg("Reshape", []string{"n", "s"}, []string{"limit"}),
		nodeMsg("Range", []string{"zero", "limit", "one"}, []string{"y"})}, given("n", 7, 1), given("s", 7, -1), output("y"),
		initial(msg(nil).num(2, 7).str(8, "zero").str(9, string(tensor.Int64s(0)))),
		initial(msg(nil).num(2, 7).str(8, "one").str(9, string(tensor.Int64s(1))))))
	for _, shape := range [][]int64{{}, {1}, {1, 1}, {1, 1, 1}} {
		y, err := runBoth(t, steps, integers(3), integers(shape...))
		require.NoError(t, err, "%v", shape)
		assert.Equal(t, tensor.Int64s(0, 1, 2), y[0].Data, "%v", shape)
	}
	boxes := modelMsg(graphMsg([]msg{nodeMsg("NonMaxSuppression", []string{"b", "s", "max", "iou", "least"},
		[]string{"y"})}, given("b", 1, 1, 2, 4), given("s", 1, 1, 1, 2), given("max", 7, 1, 1), given("iou", 1, 1, 1),
		given("least", 1, 1, 1), output("y")))
	y, err := runBoth(t, boxes, reals([]int64{1, 2, 4}, 0, 0, 1, 1, 5, 5, 6, 6), reals([]int64{1, 1, 2}, 0.5, 0.75),
		one(tensor.Int64, tensor.Int64s(2)), one(tensor.Float32, tensor.Float32s(0.5)),
		one(tensor.Float32, tensor.Float32s(0.6)))
	require.NoError(t, err)
	assert.Equal(t, tensor.Int64s(0, 0, 1), y[0].Data)
	window := modelMsg(graphMsg([]msg{nodeMsg("HannWindow", []string{"n"}, []string{"y"})}, given("n", 7, 1, 1),
		output("y")))
	y, err = runBoth(t, window, one(tensor.Int64, tensor.Int64s(2)))
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32s(0, 1), y[0].Data)
	spectrum := msg(nil).num(1, 9).sub(7, graphMsg([]msg{nodeMsg("DFT", []string{"x", "n", "a"}, []string{"y"})},
		given("x", 1, 1, 2, 1), given("n", 7, 1, 1), output("y"), initial(msg(nil).num(1, 1).num(1, 1).num(2, 7).str(8,
			"a").str(9, string(tensor.Int64s(1)))))).sub(8, msg(nil).num(2, 20))
	y, err = runBoth(t, spectrum, reals([]int64{1, 2, 1}, 1, 3), one(tensor.Int64, tensor.Int64s(2)))
	require.NoError(t, err)
	v, err := tensor.ReadFloat32s(y[0].Data, 4)
	require.NoError(t, err)
	for i, want := range []float32{4, 0, -2, 0} {
		assert.InDelta(t, want, v[i], 1e-6)
	}
}

// Messages say what is the reason, and the way out.
func TestImport_messagesTellTheReason(t *testing.T) {
	assert.ErrorContains(t, imported(t, ofVersion(5, "Acos"), ""), "the model is of opset 5")
	assert.ErrorContains(t, imported(t, msg(nil).num(1, 8).sub(7, graphMsg(nil)), ""), "the model names no opset")
	assert.NotContains(t, imported(t, ofVersion(17, "Nonesuch"), "").Error(), "opset")
	assert.ErrorContains(t, imported(t, ofVersion(99, "Relu"), ""), "onnx.version_converter")
	model := func(attrs ...msg) []byte {
		quantize := nodeMsg("QuantizeLinear", []string{"x", "s"}, []string{"y"}, attrs...)
		return modelMsg(graphMsg([]msg{quantize}, input("x", 4, 3), output("y"),
			initial(tensorMsg("s", []int64{4}, tensor.Float32s(1, 1, 1, 1)))))
	}
	assert.ErrorContains(t, imported(t, model(), ""), "attribute axis is not given and 1 by default")
	assert.NoError(t, imported(t, model(numAttr("axis", 0)), ""))
}
