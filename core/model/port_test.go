package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// modelOf makes a model of what build makes of the builder, with metadata of its input x.
func modelOf(t *testing.T, x metadata.Input, build func(m maker) []graph.Value) *Model {
	b := maker{graph.NewBuilder("test")}
	b.Output(build(b)...)
	g, err := b.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	for i, v := range g.Out {
		g.Values[v].Name = []string{"y", "z"}[i]
	}
	return &Model{Model: &onnx.Model{Graph: g, Symbols: []string{"batch"},
		Meta: &metadata.Metadata{Inputs: map[string]metadata.Input{"x": x}}}}
}

func TestPorts(t *testing.T) {
	m := modelOf(t, metadata.Input{Mean: []float32{1}, Std: []float32{2, 3, 4}, Pixel: "rgb", Order: "bgr"},
		func(m maker) []graph.Value {
			x := m.Input("x", tensor.T(tensor.Float32, 1, 3, 2, 2))
			y := m.dequantize(m.quantize(m.Add(&op.Relu{}, m.dequantize(m.quantize(x, tensor.Int8), tensor.Int8)),
				tensor.Uint8), tensor.Uint8)
			return []graph.Value{y, m.Add(&op.Exp{}, y)}
		})
	in, out, err := m.Ports()
	require.NoError(t, err)
	require.Len(t, in, 1)
	assert.Equal(t, convert.Tensor{Type: tensor.Int8, Quant: &convert.Code{Scale: 0.5, Zero: 3},
		Normalization: convert.Normalization{Mean: []float32{1}, Std: []float32{2, 3, 4}, Swap: true}}, in[0].Tensor)
	assert.Equal(t, "x", in[0].Name)
	assert.Equal(t, "[1,3,2,2]", in[0].Declared)
	require.Len(t, out, 2)
	assert.Equal(t, convert.Tensor{Type: tensor.Uint8, Quant: &convert.Code{Scale: 0.25, Zero: 4}}, out[0].Tensor)
	assert.Equal(t, convert.Tensor{Type: tensor.Float32}, out[1].Tensor)
}

func TestPorts_refused(t *testing.T) {
	relu := func(s tensor.Shape) func(m maker) []graph.Value {
		return func(m maker) []graph.Value {
			return []graph.Value{m.Add(&op.Relu{}, m.Input("x", tensor.Type{DType: tensor.Float32, Shape: s}))}
		}
	}
	for want, c := range map[string]struct {
		info  metadata.Input
		shape tensor.Shape
	}{
		`"x" has an open number of dimensions`: {metadata.Input{}, tensor.AnyShape()},
		"anynpu.input.x.mean has 2 numbers":    {metadata.Input{Mean: []float32{1, 2}}, tensor.Of(1, 3, 2, 4)},
		"anynpu.input.x.std has 3 numbers":     {metadata.Input{Std: []float32{1, 2, 3}}, tensor.Of(1, 3)},
		"anynpu.input.x.std: 0":                {metadata.Input{Std: []float32{0}}, tensor.Of(1, 3)},
	} {
		_, _, err := modelOf(t, c.info, relu(c.shape)).Ports()
		assert.ErrorContains(t, err, want)
	}
}

// TestPorts_channelsLast: what is said of channels fits dimension 3 alone.
func TestPorts_channelsLast(t *testing.T) {
	three := []float32{1, 2, 3}
	for name, c := range map[string]struct {
		info        metadata.Input
		shape, want tensor.Shape
		layout      string
	}{
		"mean":           {metadata.Input{Mean: three}, tensor.Of(1, 4, 5, 3), tensor.Of(1, 3, 4, 5), "nhwc"},
		"std":            {metadata.Input{Std: three}, tensor.Of(2, 4, 5, 3), tensor.Of(2, 3, 4, 5), "nhwc"},
		"scale":          {metadata.Input{Scale: three}, tensor.Of(1, 4, 5, 3), tensor.Of(1, 3, 4, 5), "nhwc"},
		"said otherwise": {metadata.Input{Std: three, Layout: "nchw"}, tensor.Of(1, 4, 5, 3), tensor.Of(1, 3, 4, 5), "nchw"},
		"colors":         {metadata.Input{Pixel: "rgb", Order: "bgr"}, tensor.Of(1, 1, 5, 3), tensor.Of(1, 3, 1, 5), "nhwc"},
		"open height": {metadata.Input{Mean: three}, tensor.OfDims(tensor.D(1), tensor.AnyDim(), tensor.D(5), tensor.D(3)),
			tensor.OfDims(tensor.D(1), tensor.D(3), tensor.AnyDim(), tensor.D(5)), "nhwc"},
		"both":       {metadata.Input{Mean: three}, tensor.Of(1, 3, 5, 3), tensor.Of(1, 3, 5, 3), ""},
		"one number": {metadata.Input{Mean: three[:1]}, tensor.Of(1, 4, 5, 3), tensor.Of(1, 4, 5, 3), ""},
		"four":       {metadata.Input{Pixel: "rgb", Order: "bgr"}, tensor.Of(1, 4, 5, 3), tensor.Of(1, 4, 5, 3), ""},
	} {
		m := modelOf(t, c.info, func(m maker) []graph.Value {
			return []graph.Value{m.Add(&op.Relu{}, m.Input("x", tensor.Type{DType: tensor.Float32, Shape: c.shape}))}
		})
		in, out, err := m.Ports()
		require.NoError(t, err, name)
		assert.Equal(t, c.want.String(), in[0].Shape.String(), name)
		assert.Equal(t, c.shape.String(), out[0].Shape.String(), name)
		assert.Equal(t, c.layout, in[0].Info.Layout, name)
		require.NoError(t, m.Graph.Infer(), name)
	}
}

func TestShapesOf(t *testing.T) {
	open := tensor.OfDims(tensor.Dim{Sym: 1}, tensor.D(3))
	port := func(name string, s tensor.Shape, list ...[]int64) *Port {
		return &Port{Name: name, Shape: s, Declared: s.String(), Info: metadata.Input{Shapes: list}}
	}
	s, err := ShapesOf([]*Port{port("a", open), port("b", tensor.Of(2))})
	require.NoError(t, err)
	assert.False(t, s.Listed)
	assert.Equal(t, [][][]int64{{{1, 3}, {2}}}, s.Sets)
	require.Len(t, s.Opened, 1)
	assert.Equal(t, "a", s.Opened[0].Name)

	s, err = ShapesOf([]*Port{port("b", tensor.Of(2)), port("a", open, []int64{5, 3}, []int64{6, 3})})
	require.NoError(t, err)
	assert.True(t, s.Listed)
	assert.Equal(t, [][][]int64{{{2}, {5, 3}}, {{2}, {6, 3}}}, s.Sets)

	for want, in := range map[string][]*Port{
		"want as many":       {port("a", open, []int64{5, 3}), port("b", open, []int64{5, 3}, []int64{6, 3})},
		"does not fit":       {port("a", open, []int64{5, 4})},
		"list the shapes":    {port("a", tensor.OfDims(tensor.D(3), tensor.Dim{Sym: 1}))},
		"[0 3] does not fit": {port("a", open, []int64{0, 3})},
	} {
		_, err := ShapesOf(in)
		assert.ErrorContains(t, err, want)
	}
}

func TestWithSizes(t *testing.T) {
	m := modelOf(t, metadata.Input{}, func(m maker) []graph.Value {
		shape := tensor.OfDims(tensor.Dim{Sym: 1}, tensor.D(3))
		return []graph.Value{m.Add(&op.Relu{}, m.Input("x", tensor.Type{DType: tensor.Float32, Shape: shape}))}
	})
	_, err := m.OutputDims(m.Graph)
	assert.Equal(t, fault.Shape, fault.KindOf(err))
	assert.ErrorContains(t, err, `output "y" has the shape [batch,3]`)
	sized, err := WithSizes(m.Graph, [][]int64{{7, 3}})
	require.NoError(t, err)
	dims, err := m.OutputDims(sized)
	require.NoError(t, err)
	assert.Equal(t, [][]int64{{7, 3}}, dims)
	assert.EqualValues(t, 7*3*4, ResultBytes(sized))
	assert.Zero(t, ResultBytes(m.Graph), "sizes that are not known do not count")
	assert.Zero(t, ConstantBytes(sized))

	sizes := Sizes{}
	sizes.Learn(tensor.OfDims(tensor.Dim{Sym: 1}, tensor.D(3)), []int64{7, 3})
	assert.Equal(t, tensor.OfDims(tensor.D(7), tensor.Dim{Sym: 2}), sizes.Fill(tensor.OfDims(tensor.Dim{Sym: 1},
		tensor.Dim{Sym: 2})))
}
