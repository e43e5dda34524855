package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ImageRange says which bytes luma and chroma take.
type ImageRange uint8

// The ranges. u and v are the bytes of blue and red chroma minus 128.
const (
	RangeFull ImageRange = iota // 0 to 255: r = y + 1.402 v, g = y - 0.344136 u - 0.714136 v, b = y + 1.772 u
	// luma 16 to 235; with z = 1.164 (y - 16): r = z + 1.596 v, g = z - 0.391 u - 0.813 v, b = z + 2.018 u
	RangeVideo
)

// ImageOrder is the channels that a network takes.
type ImageOrder uint8

// The orders.
const (
	OrderRGB  ImageOrder = iota
	OrderBGR             // red and blue changed over
	OrderYUV             // luma, blue chroma, red chroma as bytes; of YUV images alone
	OrderGray            // gray; of a YUV image its luma, with RangeVideo z
	imageOrders
)

// String returns the name that metadata have for it.
func (o ImageOrder) String() string {
	return [imageOrders + 1]string{"rgb", "bgr", "yuv444", "gray", "?"}[min(o, imageOrders)]
}

// Channels is the number of channels.
func (o ImageOrder) Channels() int64 {
	if o == OrderGray {
		return 1
	}
	return 3
}

// DecodeImage makes the channels that a network takes of the bytes of an image and normalizes them: channel c of each
// pixel is
//
//	(value - Mean[c]) * Scale[c]
//
// where value is a component of the image, or for red, green and blue of a YUV image follows from Range. Nothing is
// rounded to bytes on the way. With the coefficients of Affine and in float32, each product and sum rounded, it is
//
//	w[c][0] * (x[0]-base[0]) + ((w[c][1] * (x[1]-base[1]) + w[c][2] * (x[2]-base[2])) + offset[c])
//
// All pixels of a block of 2 x 2 have the chroma of their pair.
//
// Inputs: image, bytes, as Pixel says; chroma?, the plane of pairs if it is not in image. Output: float32 [N,C,H,W], or
// with ChannelsLast [N,H,W,C]. Source: docs/abi/hbdnn.md, section 6 (what a model says of its colors) and section 11
// (YUV to RGB, bt601_video, chroma upsampling, odd sizes).
type DecodeImage struct {
	Pixel        Pixel
	Interleaved  bool // the image is [N,H,W,C]
	Range        ImageRange
	Order        ImageOrder
	Mean, Scale  []float32 // none (0 and 1), one for all channels, or one per channel in the network's order
	ChannelsLast bool      // of the output
}

func init() { graph.Register[*DecodeImage]("decode_image", graph.Traits{}) }

// Infer returns the shape of the channels.
func (o *DecodeImage) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := imageBytes(in); err != nil {
		return nil, err
	}
	n, h, w, err := imageSizes(o.Pixel, o.Interleaved, in)
	if err != nil {
		return nil, err
	}
	s := imageOf(n, tensor.D(o.Order.Channels()), []tensor.Dim{h, w}, o.ChannelsLast)
	return []tensor.Fact{{Type: tensor.Type{DType: tensor.Float32, Shape: s}}}, nil
}

func (o *DecodeImage) check() error {
	yuv := o.Pixel.Semiplanar() || o.Pixel == PixelYUV444
	switch {
	case o.Pixel >= pixels || o.Range > RangeVideo || o.Order >= imageOrders:
		return fault.New(fault.Argument, "pixels %d, range %d, order %d", o.Pixel, o.Range, o.Order)
	case !yuv && o.Range != RangeFull:
		return fault.New(fault.Argument, "%v images have no video range", o.Pixel)
	case o.Order == OrderGray && o.Pixel != PixelGray && !yuv, o.Order != OrderGray && o.Pixel == PixelGray,
		o.Order == OrderYUV && !yuv:
		return fault.New(fault.Argument, "a network that takes %v cannot have %v images", o.Order, o.Pixel)
	}
	for i, list := range [][]float32{o.Mean, o.Scale} {
		what := [...]string{"means", "scales"}[i]
		if n := len(list); n > 1 && int64(n) != o.Order.Channels() {
			return fault.New(fault.Argument, "%d %s: want 1 or %d, one per channel", n, what, o.Order.Channels())
		}
		for _, v := range list {
			if v != v || math.IsInf(float64(v), 0) {
				return fault.New(fault.Argument, "%s: %g", what, v)
			}
		}
	}
	return nil
}

// ImageAffine makes channels of components.
type ImageAffine struct {
	Components, Channels int           // each 1 or 3
	Base                 [3]int32      // subtracted from the bytes of a component
	Weight               [3][3]float32 // per channel and component
	Offset               [3]float32    // per channel
}

// Affine folds Range, Order, Mean and Scale. Components are in the order in which the image has them. Weights and
// offsets are computed in float64 and rounded once.
func (o *DecodeImage) Affine() ImageAffine {
	a := ImageAffine{Components: int(o.Pixel.Components()), Channels: int(o.Order.Channels())}
	if o.Order == OrderGray {
		a.Components = 1
	}
	m, base := o.matrix()
	stored := [3]int{0, 1, 2} // where the image has component k of m
	switch o.Pixel {
	case PixelBGR:
		stored = [3]int{2, 1, 0}
	case PixelNV21:
		stored = [3]int{0, 2, 1}
	}
	at := func(list []float32, c int, none float64) float64 {
		switch len(list) {
		case 0:
			return none
		case 1:
			c = 0
		}
		return float64(list[c])
	}
	for c := range a.Channels {
		row := c
		if o.Order == OrderBGR {
			row = 2 - c
		}
		scale := at(o.Scale, c, 1)
		for k := range a.Components {
			a.Weight[c][stored[k]] = float32(scale * m[row][k])
		}
		a.Offset[c] = float32(-scale * at(o.Mean, c, 0))
	}
	for k := range a.Components {
		a.Base[stored[k]] = base[k]
	}
	return a
}

// matrix returns the channels in the order red, green, blue (or as the image has them) for components minus base.
func (o *DecodeImage) matrix() (m [3][3]float64, base [3]int32) {
	yuv := o.Pixel.Semiplanar() || o.Pixel == PixelYUV444
	switch {
	case !yuv || o.Order == OrderYUV || o.Order == OrderGray && o.Range == RangeFull:
		return [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, base
	case o.Range == RangeFull:
		return [3][3]float64{{1, 0, 1.402}, {1, -0.344136, -0.714136}, {1, 1.772, 0}}, [3]int32{0, 128, 128}
	}
	return [3][3]float64{{1.164, 0, 1.596}, {1.164, -0.391, -0.813}, {1.164, 2.018, 0}}, [3]int32{16, 128, 128}
}

// Decompose casts the components, spreads chroma over the pixels and multiplies with the coefficients by a convolution
// with a filter of one cell.
func (o *DecodeImage) Decompose(b *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	p, err := newImageParts(b, o.Pixel, o.Interleaved, in)
	if err != nil {
		return nil, err
	}
	a := o.Affine()
	x := p.planes[0] // [N,H,W,C]
	if o.Pixel.Semiplanar() && a.Components == 3 {
		chroma := p.planes[1]
		for d, size := range []int64{p.h, p.w} {
			chroma = b.Add(&Gather{}, chroma, b.Int64s(spread(size)...), b.Int64s(int64(d)+1))
		}
		x = b.Add(&Concat{Axis: 3}, x, chroma)
	} else if a.Components == 1 && o.Pixel == PixelYUV444 {
		x = b.Add(&Slice{}, x, b.Int64s(0), b.Int64s(1), b.Int64s(3))
	}
	x = b.Add(&Cast{To: tensor.Float32}, x)
	base, weight := make([]float32, a.Components), []float32(nil)
	for k := range base {
		base[k] = float32(a.Base[k])
	}
	for c := range a.Channels {
		weight = append(weight, a.Weight[c][:a.Components]...)
	}
	k, c := int64(a.Components), int64(a.Channels)
	x = b.Add(&Sub{}, x, b.Const("", tensor.T(tensor.Float32, k), tensor.Float32s(base...)))
	y := b.Add(&Conv{ChannelsLast: true}, x,
		b.Const("", tensor.T(tensor.Float32, c, 1, 1, k), tensor.Float32s(weight...)),
		b.Const("", tensor.T(tensor.Float32, c), tensor.Float32s(a.Offset[:c]...)))
	if !o.ChannelsLast {
		y = b.Add(&Transpose{}, y, b.Int64s(0, 3, 1, 2))
	}
	return []graph.Value{y}, b.Err()
}

// spread returns the row or column of chroma for each of size rows or columns of luma.
func spread(size int64) []int64 {
	v := make([]int64, size)
	for i := range v {
		v[i] = min(int64(i)/2, size/2-1)
	}
	return v
}

// imageParts are the planes of an image in a graph that takes the place of an operator, each [N,H,W,C].
type imageParts struct {
	n, h, w int64 // of luma
	planes  []graph.Value
}

// newImageParts splits the image of in. Kind fault.Unsupported when a size is not known.
func newImageParts(b *graph.Builder, pixel Pixel, interleaved bool, in []graph.Value) (*imageParts, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	facts := make([]tensor.Fact, min(2, len(in)))
	for i := range facts {
		facts[i] = b.Fact(in[i])
	}
	n, h, w, err := imageSizes(pixel, interleaved, facts)
	if err != nil {
		return nil, err
	}
	if !n.Known() || !h.Known() || !w.Known() {
		return nil, fault.New(fault.Unsupported, "the image's sizes are open: %v", facts[0].Shape)
	}
	p := &imageParts{n: n.N, h: h.N, w: w.N}
	switch {
	case !pixel.Semiplanar() && interleaved:
		p.planes = []graph.Value{in[0]}
	case !pixel.Semiplanar():
		p.planes = []graph.Value{b.Add(&Transpose{}, in[0], b.Int64s(0, 2, 3, 1))}
	default:
		luma, chroma := in[0], graph.None
		if len(facts) > 1 && present(facts, 1) {
			chroma = in[1]
		} else {
			luma = b.Add(&Slice{}, in[0], b.Int64s(0), b.Int64s(p.h), b.Int64s(1))
			chroma = b.Add(&Slice{}, in[0], b.Int64s(p.h, 0), b.Int64s(BlockRows(p.h), p.w/2*2), b.Int64s(1, 2))
			chroma = b.Add(&Reshape{}, chroma, b.Int64s(p.n, p.h/2, p.w/2, 2))
		}
		p.planes = []graph.Value{b.Add(&Reshape{}, luma, b.Int64s(p.n, p.h, p.w, 1)), chroma}
	}
	return p, b.Err()
}

var _ graph.Composite = (*DecodeImage)(nil)
