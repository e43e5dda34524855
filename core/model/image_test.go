package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// network is a model of one input.
func network(t *testing.T, x metadata.Input, d tensor.DType, s tensor.Shape) *Model {
	return modelOf(t, x, func(m maker) []graph.Value {
		return []graph.Value{m.Add(&op.Identity{}, m.Input("x", tensor.Type{DType: d, Shape: s}))}
	})
}

func TestImages_inputsOfTheGraph(t *testing.T) {
	nchw, nhwc := tensor.Of(2, 3, 5, 8), tensor.Of(2, 5, 8, 3)
	mean := []float32{1, 2, 3}
	for _, c := range []struct {
		name  string
		info  metadata.Input
		shape tensor.Shape
		o     ImageOptions
		in    []string
		ops   []graph.Op
	}{
		{"nv12 as one block", metadata.Input{Pixel: "nv12", Mean: mean, Std: []float32{4}}, nchw, ImageOptions{},
			[]string{"x uint8[2,7,8]"},
			[]graph.Op{&op.DecodeImage{Pixel: op.PixelNV12, Mean: mean, Scale: []float32{0.25}}}},
		{"two planes of video range", metadata.Input{Pixel: "nv21", Planes: 2, Range: "bt601_video", Order: "bgr"}, nhwc,
			ImageOptions{}, []string{"x uint8[2,5,8]", "x.chroma uint8[2,2,4,2]"},
			[]graph.Op{&op.DecodeImage{Pixel: op.PixelNV21, Range: op.RangeVideo, Order: op.OrderBGR, ChannelsLast: true}}},
		{"two planes because the API wants them", metadata.Input{Pixel: "nv12"}, tensor.Of(1, 1, 4, 4),
			ImageOptions{TwoPlanes: true}, []string{"x uint8[1,4,4]", "x.chroma uint8[1,2,2,2]"},
			[]graph.Op{&op.DecodeImage{Pixel: op.PixelNV12, Order: op.OrderGray}}},
		{"rgb with a source, means in the image's order", metadata.Input{Pixel: "rgb", Order: "bgr", Source: "ddr",
			Mean: mean, Scale: []float32{2}, Layout: "nhwc"}, nchw, ImageOptions{}, []string{"x uint8[2,5,8,3]"},
			[]graph.Op{&op.DecodeImage{Pixel: op.PixelRGB, Interleaved: true, Order: op.OrderBGR, Mean: []float32{3, 2, 1},
				Scale: []float32{2}}}},
		{"rgb for an API that turns images itself", metadata.Input{Pixel: "rgb", Source: "ddr", Layout: "nhwc"}, nchw,
			ImageOptions{Planar: true}, []string{"x uint8[2,3,5,8]"}, []graph.Op{&op.DecodeImage{Pixel: op.PixelRGB}}},
		{"rgb without a source", metadata.Input{Pixel: "rgb"}, nchw, ImageOptions{}, []string{"x float32[2,3,5,8]"}, nil},
		{"rgb for an API of images", metadata.Input{Pixel: "bgr"}, nhwc, ImageOptions{All: true},
			[]string{"x uint8[2,5,8,3]"}, []graph.Op{&op.DecodeImage{Pixel: op.PixelBGR, Interleaved: true,
				Order: op.OrderBGR, ChannelsLast: true}}},
		{"regions", metadata.Input{Pixel: "nv12", Source: "resizer"}, nchw, ImageOptions{Regions: true},
			[]string{"x uint8[2,?,?]", "x.regions int32[2,4]"}, []graph.Op{&op.ResizeImage{Pixel: op.PixelNV12, Height: 5,
				Width: 8}, &op.DecodeImage{Pixel: op.PixelNV12}}},
		{"regions of two planes", metadata.Input{Pixel: "nv12", Source: "resizer", Planes: 2}, nchw,
			ImageOptions{Regions: true}, []string{"x uint8[2,?,?]", "x.chroma uint8[2,?,?,2]", "x.regions int32[2,4]"},
			[]graph.Op{&op.ResizeImage{Pixel: op.PixelNV12, Height: 5, Width: 8}, &op.DecodeImage{Pixel: op.PixelNV12}}},
		{"a resizer of an API without regions", metadata.Input{Pixel: "gray", Source: "resizer"}, tensor.Of(1, 1, 4, 4),
			ImageOptions{}, []string{"x uint8[1,1,4,4]"}, []graph.Op{&op.DecodeImage{Order: op.OrderGray}}},
		{"open sizes", metadata.Input{Pixel: "yuv444", Order: "yuv444"}, tensor.OfDims(tensor.Dim{Sym: 1}, tensor.D(3),
			tensor.AnyDim(), tensor.D(6)), ImageOptions{}, []string{"x uint8[?1,3,?,6]"},
			[]graph.Op{&op.DecodeImage{Pixel: op.PixelYUV444, Order: op.OrderYUV}}},
	} {
		m := network(t, c.info, tensor.Float32, c.shape)
		require.NoError(t, m.decodeImages(c.o), c.name)
		g := m.Graph
		require.NoError(t, g.Validate(), c.name)
		var in []string
		for _, v := range g.In {
			in = append(in, g.Values[v].Name+" "+g.Fact(v).Type.String())
		}
		assert.Equal(t, c.in, in, c.name)
		order, err := g.Order()
		require.NoError(t, err)
		require.Len(t, order, len(c.ops)+1, c.name)
		for i, want := range c.ops {
			assert.Equal(t, want, g.Nodes[order[i]].Op, c.name)
		}
		assert.Equal(t, c.shape.String(), g.Fact(g.Out[0]).Shape.String(), c.name)
		ports, _, err := m.Ports()
		require.NoError(t, err, c.name)
		for _, p := range ports {
			assert.Equal(t, c.ops != nil, p.Image != nil, c.name)
			assert.False(t, p.Normalized() || p.Swap, "%s: what there is the graph does", c.name)
		}
	}
}

func TestImages_otherTypesOfTheNetwork(t *testing.T) {
	m := network(t, metadata.Input{Pixel: "nv12"}, tensor.Float16, tensor.Of(1, 3, 4, 4))
	require.NoError(t, m.decodeImages(ImageOptions{}))
	order, err := m.Graph.Order()
	require.NoError(t, err)
	require.Len(t, order, 3)
	assert.Equal(t, &op.Cast{To: tensor.Float16}, m.Graph.Nodes[order[1]].Op)

	m = network(t, metadata.Input{Pixel: "rgb", Source: "ddr"}, tensor.Uint8, tensor.Of(1, 3, 4, 4))
	require.NoError(t, m.decodeImages(ImageOptions{}))
	assert.Len(t, m.Graph.Nodes, 1, "the network takes the bytes")
	assert.True(t, m.Images[m.Graph.In[0]].Plain)
	m = network(t, metadata.Input{Pixel: "rgb", Order: "bgr"}, tensor.Uint8, tensor.Of(1, 3, 4, 5))
	require.NoError(t, m.decodeImages(ImageOptions{All: true, Interleaved: true}))
	g := m.Graph
	require.NoError(t, g.Validate())
	assert.Equal(t, "uint8[1,4,5,3]", g.Fact(g.In[0]).Type.String())
	assert.Equal(t, "uint8[1,3,4,5]", g.Fact(g.Out[0]).Type.String())
	var names []string
	for _, n := range g.Nodes[1:] {
		names = append(names, graph.NameOf(n.Op))
	}
	assert.Equal(t, []string{"gather", "transpose", "identity"}, names)
}

func TestImages_listedShapesAreThoseOfTheNetwork(t *testing.T) {
	open := tensor.OfDims(tensor.D(1), tensor.D(3), tensor.AnyDim(), tensor.AnyDim())
	m := network(t, metadata.Input{Pixel: "nv12", Planes: 2, Shapes: [][]int64{{1, 3, 8, 6}, {1, 3, 5, 7}}},
		tensor.Float32, open)
	require.NoError(t, m.decodeImages(ImageOptions{}))
	in, _, err := m.Ports()
	require.NoError(t, err)
	s, err := ShapesOf(in)
	require.NoError(t, err)
	assert.Equal(t, [][][]int64{{{1, 8, 6}, {1, 4, 3, 2}}, {{1, 5, 7}, {1, 2, 3, 2}}}, s.Sets)
	sized, err := WithSizes(m.Graph, s.Sets[1])
	require.NoError(t, err)
	assert.Equal(t, "[1,3,5,7]", sized.Fact(sized.Out[0]).Shape.String())
}

func TestImages_refused(t *testing.T) {
	nchw := tensor.Of(1, 3, 4, 4)
	for want, c := range map[string]struct {
		info  metadata.Input
		d     tensor.DType
		shape tensor.Shape
	}{
		`anynpu.input.x.pixel: "": a source resizer has images`: {metadata.Input{Source: "resizer"},
			tensor.Float32, nchw},
		`"rgba": such images are not decoded`: {metadata.Input{Source: "ddr", Pixel: "rgba"},
			tensor.Float32, nchw},
		`"nv12": the input has the shape [3,4]`: {metadata.Input{Pixel: "nv12"},
			tensor.Float32, tensor.Of(3, 4)},
		"want 1 channels for gray in dimension 1 or 3": {metadata.Input{Pixel: "nv12", Order: "gray"},
			tensor.Float32, nchw},
		"want 3 channels for rgb in dimension 1 or 3": {metadata.Input{Pixel: "nv12"},
			tensor.Float32, tensor.Of(1, 4, 4, 2)},
		"the network takes uint8: want one that takes real numbers": {metadata.Input{Pixel: "nv12"}, tensor.Uint8,
			nchw},
		"there are std and scale": {metadata.Input{Pixel: "nv12",
			Std: []float32{1}, Scale: []float32{1}}, tensor.Float32, nchw},
		"2 means: want 1 or 3": {metadata.Input{Pixel: "nv12",
			Mean: []float32{1, 2}}, tensor.Float32, nchw},
		"rgb images have no video range": {metadata.Input{Pixel: "rgb", Source: "ddr",
			Range: "bt601_video"}, tensor.Float32, nchw},
		"at least 2 rows and columns": {metadata.Input{Pixel: "nv12"},
			tensor.Float32, tensor.Of(1, 3, 4, 1)},
		"want a known height and width to resize to": {metadata.Input{Pixel: "nv12",
			Source: "resizer"}, tensor.Float32, tensor.OfDims(tensor.D(1), tensor.D(3), tensor.AnyDim(), tensor.D(4))},
		`anynpu.input.x.pixel: "rgb": a network that takes yuv444 cannot have`: {metadata.Input{Pixel: "rgb", Source: "ddr",
			Order: "yuv444"}, tensor.Float32, nchw},
	} {
		err := network(t, c.info, c.d, c.shape).decodeImages(ImageOptions{Regions: true})
		assert.ErrorContains(t, err, want)
		assert.Equal(t, fault.File, fault.KindOf(err), want)
	}
}

func TestPorts_scaleIsTheInverseOfStd(t *testing.T) {
	m := network(t, metadata.Input{Scale: []float32{0.5, 4, 1}}, tensor.Float32, tensor.Of(1, 3, 4, 4))
	in, _, err := m.Ports()
	require.NoError(t, err)
	assert.Equal(t, []float32{2, 0.25, 1}, in[0].Std)
	m.Meta.Inputs["x"] = metadata.Input{Scale: []float32{1}, Std: []float32{1}}
	_, _, err = m.Ports()
	assert.ErrorContains(t, err, "std and scale")
	m.Meta.Inputs["x"] = metadata.Input{Scale: []float32{1, 2}}
	_, _, err = m.Ports()
	assert.ErrorContains(t, err, "anynpu.input.x.scale has 2 numbers")
}

func TestResizer(t *testing.T) {
	for _, two := range []bool{false, true} {
		g, err := Resizer(op.ResizeImage{Pixel: op.PixelNV12, Height: 4, Width: 6}, 2, 10, 12, two)
		require.NoError(t, err)
		require.Len(t, g.Nodes, 1)
		var in, out []string
		for _, v := range g.In {
			in = append(in, g.Values[v].Name+" "+g.Fact(v).Type.String())
		}
		for _, v := range g.Out {
			out = append(out, g.Values[v].Name+" "+g.Fact(v).Type.String())
		}
		if two {
			assert.Equal(t, []string{"image uint8[2,10,12]", "chroma uint8[2,5,6,2]", "regions int32[2,4]"}, in)
			assert.Equal(t, []string{"image uint8[2,4,6]", "chroma uint8[2,2,3,2]"}, out)
			continue
		}
		assert.Equal(t, []string{"image uint8[2,15,12]", "regions int32[2,4]"}, in)
		assert.Equal(t, []string{"image uint8[2,6,6]"}, out)
	}
	_, err := Resizer(op.ResizeImage{Pixel: op.PixelNV12, Height: 1, Width: 6}, 1, 10, 12, false)
	assert.Error(t, err)
}
