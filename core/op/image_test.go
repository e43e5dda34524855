package op

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

func bytesOf(d ...tensor.Dim) tensor.Fact { return typed(tensor.Uint8, d...) }

func TestImage_shapesAsFarAsKnown(t *testing.T) {
	d := tensor.D
	for _, c := range []struct {
		op   graph.Op
		in   []tensor.Fact
		want []string
	}{
		{&DecodeImage{Pixel: PixelNV12}, []tensor.Fact{bytesOf(n, d(15), d(7))}, []string{"float32[?1,3,10,7]"}},
		{&DecodeImage{Pixel: PixelNV12}, []tensor.Fact{bytesOf(n, d(16), d(7))}, []string{"float32[?1,3,11,7]"}},
		{&DecodeImage{Pixel: PixelNV12, Order: OrderGray, ChannelsLast: true}, []tensor.Fact{bytesOf(d(2), any1, d(7))},
			[]string{"float32[2,?,7,1]"}},
		{&DecodeImage{Pixel: PixelNV21}, []tensor.Fact{bytesOf(n, d(5), d(7)), bytesOf(d(2), d(2), d(3), d(2))},
			[]string{"float32[2,3,5,7]"}},
		{&DecodeImage{Pixel: PixelNV12}, []tensor.Fact{open(tensor.Uint8)}, []string{"float32[?,3,?,?]"}},
		{&DecodeImage{Pixel: PixelRGB, Interleaved: true}, []tensor.Fact{bytesOf(n, d(5), m, d(3))},
			[]string{"float32[?1,3,5,?2]"}},
		{&DecodeImage{Order: OrderGray}, []tensor.Fact{bytesOf(n, d(1), d(5), d(4))}, []string{"float32[?1,1,5,4]"}},
		{&ResizeImage{Pixel: PixelNV12, Height: 5, Width: 7}, []tensor.Fact{bytesOf(n, any1, any1), {}, consts(1, 2)},
			nil},
		{&ResizeImage{Pixel: PixelNV12, Height: 5, Width: 7},
			[]tensor.Fact{bytesOf(n, any1, any1), {}, typed(tensor.Int32, d(2), d(4))}, []string{"uint8[2,7,7]"}},
		{&ResizeImage{Pixel: PixelNV12, Height: 5, Width: 7},
			[]tensor.Fact{bytesOf(n, d(9), d(9)), bytesOf(n, d(4), d(4), d(2))}, []string{"uint8[?1,5,7]", "uint8[?1,2,3,2]"}},
		{&ResizeImage{Pixel: PixelBGR, Interleaved: true, Height: 5, Width: 7}, []tensor.Fact{bytesOf(n, m, d(9), d(3))},
			[]string{"uint8[?1,5,7,3]"}},
		{&ResizeImage{Height: 1, Width: 1}, []tensor.Fact{bytesOf(n, d(1), m, d(9))}, []string{"uint8[?1,1,1,1]"}},
	} {
		out, err := c.op.Infer(c.in, make([]tensor.Type, max(1, len(c.want))))
		if c.want == nil {
			assert.Equal(t, fault.Shape, fault.KindOf(err), "%v", err)
			continue
		}
		require.NoError(t, err, "%+v", c.op)
		for i, want := range c.want {
			assert.Equal(t, want, out[i].Type.String(), "%+v", c.op)
		}
	}
}

func TestImage_kindsOfErrors(t *testing.T) {
	d := tensor.D
	image := bytesOf(d(1), d(3), d(6), d(8))
	for want, c := range map[string]struct {
		op   graph.Op
		in   []tensor.Fact
		kind fault.Kind
	}{
		"input 0: want bytes (uint8), got float32": {&DecodeImage{Pixel: PixelRGB}, []tensor.Fact{fact(n, d(3), n, m)},
			fault.Type},
		"input 1: rgb has one plane": {&DecodeImage{Pixel: PixelRGB}, []tensor.Fact{image, image},
			fault.Argument},
		"input 0: components of bgr: 4 and 3": {&DecodeImage{Pixel: PixelBGR}, []tensor.Fact{bytesOf(n, d(4), n, m)},
			fault.Shape},
		"no image has 8 rows of luma and chroma": {&DecodeImage{Pixel: PixelNV12}, []tensor.Fact{bytesOf(n, d(8), d(4))},
			fault.Shape},
		"at least 2 rows and columns": {&DecodeImage{Pixel: PixelNV12}, []tensor.Fact{bytesOf(n, d(6), d(1))},
			fault.Shape},
		"input 1: half the rows and columns": {&DecodeImage{Pixel: PixelNV12},
			[]tensor.Fact{bytesOf(n, d(6), d(4)), bytesOf(n, d(3), d(3), d(2))}, fault.Shape},
		"a network that takes rgb cannot have gray": {&DecodeImage{}, []tensor.Fact{bytesOf(n, d(1), n, m)}, fault.Argument},
		"a network that takes yuv444 cannot": {&DecodeImage{Pixel: PixelRGB, Order: OrderYUV}, []tensor.Fact{image},
			fault.Argument},
		"rgb images have no video range": {&DecodeImage{Pixel: PixelRGB, Range: RangeVideo}, []tensor.Fact{image},
			fault.Argument},
		"2 means: want 1 or 3": {&DecodeImage{Pixel: PixelRGB, Mean: []float32{1, 2}},
			[]tensor.Fact{image}, fault.Argument},
		"0 x 7: want sizes of 1 to": {&ResizeImage{Pixel: PixelRGB, Width: 7}, []tensor.Fact{image},
			fault.Argument},
		"input 2: left, top, right, bottom": {&ResizeImage{Pixel: PixelRGB, Height: 1, Width: 7},
			[]tensor.Fact{image, {}, typed(tensor.Int32, d(1), d(5))}, fault.Shape},
		"input 2: one region per image: 1 and 2": {&ResizeImage{Pixel: PixelRGB, Height: 1, Width: 7},
			[]tensor.Fact{image, {}, typed(tensor.Int32, d(2), d(4))}, fault.Shape},
	} {
		_, err := c.op.Infer(c.in, make([]tensor.Type, 1))
		assert.Equal(t, c.kind, fault.KindOf(err), "%v", err)
		assert.ErrorContains(t, err, want)
	}
	quantized := image
	quantized.Quant = tensor.PerTensor(1, 0)
	_, err := (&DecodeImage{Pixel: PixelRGB}).Infer([]tensor.Fact{quantized}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Type, fault.KindOf(err))
}

func TestImage_openSizesDoNotDecompose(t *testing.T) {
	for _, o := range []graph.Composite{&DecodeImage{Pixel: PixelNV12},
		&ResizeImage{Pixel: PixelNV12, Height: 4, Width: 4}} {
		b := graph.NewBuilder("open")
		_, err := o.Decompose(b, []graph.Value{b.Input("x", bytesOf(tensor.D(1), any1, tensor.D(8)).Type)})
		assert.Equal(t, fault.Unsupported, fault.KindOf(err), graph.NameOf(o))
	}
}

// Nothing is left of a region beyond the image; the last odd row and column take the chroma of the pair before.
func TestRegion(t *testing.T) {
	r, err := Region{-3, -4, 100, 2}.Within(5, 7)
	require.NoError(t, err)
	assert.Equal(t, Region{0, 0, 6, 2}, r)
	assert.Equal(t, Region{0, 0, 2, 1}, r.Chroma(5, 7))
	assert.Equal(t, Region{2, 1, 2, 1}, Region{6, 4, 6, 4}.Chroma(5, 7))
	for h := int64(2); h < 50; h++ {
		got, ok := BlockHeight(BlockRows(h))
		assert.True(t, ok)
		assert.Equal(t, h, got)
	}
}
