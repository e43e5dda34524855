package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// ofType is input or output or value_info, by its field, of a type and sizes; negative ones are open, of the name n.
func ofType(field protowire.Number, name string, elem uint64, dims ...int64) msg {
	shape := msg(nil)
	for _, d := range dims {
		dim := msg(nil).num(1, uint64(d))
		if d < 0 {
			dim = msg(nil).str(2, "n")
		}
		shape = shape.sub(1, dim)
	}
	return msg(nil).sub(field, msg(nil).str(1, name).sub(2, msg(nil).sub(1, msg(nil).num(1, elem).sub(2, shape))))
}

func integers(v ...int64) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Int64, Dims: []int64{int64(len(v))}, Data: tensor.Int64s(v...)}
}

// Declared sizes of outputs hold where nothing else tells them. A run that makes others fails; what is known otherwise
// counts more than what a model declares.
func TestImport_declaredOutputs(t *testing.T) {
	reshape := []msg{nodeMsg("Reshape", []string{"x", "s"}, []string{"y"})}
	behind := []msg{nodeMsg("Reshape", []string{"x", "s"}, []string{"r"}), nodeMsg("Relu", []string{"r"}, []string{"q"}),
		nodeMsg("Transpose", []string{"q"}, []string{"y"})}
	nonzero := []msg{nodeMsg("NonZero", []string{"x"}, []string{"y"})}
	relu := []msg{nodeMsg("Relu", []string{"x"}, []string{"y"})}
	six := []float32{1, 2, 3, 4, 5, 6}
	ones := reals([]int64{2, 3}, 1, 1, 1, 0, 0, 0)
	for _, c := range []struct {
		name  string
		nodes []msg
		elem  uint64
		says  []int64
		known tensor.Shape
		in    []tensor.Tensor
		want  []int64 // nil: the run fails
	}{
		{"as declared", reshape, 1, []int64{3, 2}, tensor.Of(3, 2), []tensor.Tensor{reals([]int64{2, 3}, six...),
			integers(3, 2)}, []int64{3, 2}},
		{"turned", reshape, 1, []int64{3, 2}, tensor.Of(3, 2), []tensor.Tensor{reals([]int64{2, 3}, six...), integers(2, 3)},
			nil},
		{"of another rank than is known", reshape, 1, []int64{3, 2}, tensor.OfDims(tensor.AnyDim()),
			[]tensor.Tensor{reals([]int64{2, 3}, six...), integers(6)}, []int64{6}},
		{"one open", reshape, 1, []int64{-1, 2}, tensor.OfDims(tensor.AnyDim(), tensor.D(2)),
			[]tensor.Tensor{reals([]int64{2, 3}, six...), integers(3, 2)}, []int64{3, 2}},
		{"one open, turned", reshape, 1, []int64{-1, 2}, tensor.OfDims(tensor.AnyDim(), tensor.D(2)),
			[]tensor.Tensor{reals([]int64{2, 3}, six...), integers(2, 3)}, nil},
		{"0 is not known", reshape, 1, []int64{0, 2}, tensor.OfDims(tensor.AnyDim(), tensor.D(2)),
			[]tensor.Tensor{reals([]int64{2, 3}, six...), integers(3, 2)}, []int64{3, 2}},
		{"behind others", behind, 1, []int64{2, 3}, tensor.Of(2, 3), []tensor.Tensor{reals([]int64{2, 3}, six...),
			integers(3, 2)}, []int64{2, 3}},
		{"behind others, turned", behind, 1, []int64{2, 3}, tensor.Of(2, 3), []tensor.Tensor{reals([]int64{2, 3}, six...),
			integers(2, 3)}, nil},
		{"counted", nonzero, 7, []int64{2, 3}, tensor.Of(2, 3), []tensor.Tensor{ones, integers(0, 0)}, []int64{2, 3}},
		{"counted otherwise", nonzero, 7, []int64{2, 4}, tensor.Of(2, 4), []tensor.Tensor{ones, integers(0, 0)}, nil},
		{"counted, of other rank", nonzero, 7, []int64{3}, tensor.OfDims(tensor.D(2), tensor.AnyDim()),
			[]tensor.Tensor{ones, integers(0, 0)}, []int64{2, 3}},
		{"counted, but for what is known", nonzero, 7, []int64{5, 4}, tensor.OfDims(tensor.D(2), tensor.AnyDim()),
			[]tensor.Tensor{ones, integers(0, 0)}, []int64{2, 3}},
		{"wrong where it is known", relu, 1, []int64{3, 2}, tensor.Of(2, 3), []tensor.Tensor{ones, integers(0, 0)},
			[]int64{2, 3}},
	} {
		model := modelMsg(graphMsg(c.nodes, input("x", 2, 3), ofType(11, "s", 7, c.in[1].Dims...),
			ofType(12, "y", c.elem, c.says...)))
		w := mem.NewWeights()
		m, err := Import(model, Options{Weights: w})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.known, m.Graph.Fact(m.Graph.Out[0]).Shape, c.name)
		assert.Equal(t, "y", m.Graph.Values[m.Graph.Out[0]].Name)
		w.Release()
		y, err := runBoth(t, model, c.in...)
		if c.want == nil {
			assert.ErrorContains(t, err, "the model declares", c.name)
			assert.Equal(t, fault.Shape, fault.KindOf(err), c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, y[0].Dims, c.name)
	}
}

// The declared number of dimensions of an inner value serves operators that must know it.
func TestImport_declaredRankOfInnerValues(t *testing.T) {
	model := func(fields ...msg) []byte {
		squeezed := nodeMsg("Squeeze", []string{"x"}, []string{"r"})
		graph := graphMsg([]msg{squeezed, nodeMsg("Softmax", []string{"r"}, []string{"y"}, numAttr("axis", 0))},
			append(fields, ofType(11, "x", 1, 1, -1, 2), output("y"))...)
		return msg(nil).num(1, 9).sub(7, graph).sub(8, msg(nil).num(2, 11))
	}
	assert.ErrorContains(t, imported(t, model(), ""), "rank is not known")
	declared := model(ofType(13, "r", 1, -1, 2))
	y, err := runBoth(t, declared, reals([]int64{1, 2, 2}, 7, 7, 7, 7))
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32s(0.25, 0.25, 0.25, 0.25), y[0].Data)
	_, err = runBoth(t, declared, reals([]int64{1, 1, 2}, 1, 2))
	assert.ErrorContains(t, err, "the model declares [?,?]")
}
