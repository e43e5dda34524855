package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// maxImageSize bounds the rows and columns that ResizeImage makes.
const maxImageSize = 1 << 15

// ResizeImage takes a region out of each image and resizes it to Height x Width, bytes to bytes, bilinearly in
// integers. Along an axis of which the region has src cells, cell i of dst is at
//
//	i * step, with step = ((src-1) * 65536 + (dst-1)/2) / (dst-1), for dst 1: 0
//
// in units of 1/65536: between cell position>>16 and the one after it, at most src-1, with the weight position&65535.
// The four neighbours are mixed as (sum of products with 16-bit weights + 2^31) >> 32. A region as large as the result
// is copied. Of NV12 and NV21 the chroma plane is taken from (Left>>1..Right>>1, Top>>1..Bottom>>1) and made
// Height/2 x Width/2 by the same rule.
//
// Inputs: image, bytes, as Pixel says; chroma?, the plane of pairs if it is not in image; regions?, integers [N,4]:
// left, top, right, bottom of each image, all included; absent: whole images. Outputs: the image, and if there is a
// plane of pairs on its own, that too. A region that is partly outside is cut; one that is reversed or wholly outside
// fails the run with fault.Data. Source: docs/abi/hbdnn.md, sections 8 and 11 (bilinear grid, NV12 in
// Resize/RoiInfer, ROI checks).
type ResizeImage struct {
	Pixel         Pixel
	Interleaved   bool // the image is [N,H,W,C]
	Height, Width int64
}

func init() { graph.Register[*ResizeImage]("resize_image", graph.Traits{}) }

// Infer returns images of Height x Width.
func (o *ResizeImage) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	outs := 1
	if len(in) > 1 && present(in, 1) {
		outs = 2
	}
	if err := arity(in, 1, 3, declared, outs, outs); err != nil {
		return nil, err
	}
	least := int64(1)
	if o.Pixel.Semiplanar() {
		least = 2
	}
	if o.Pixel >= pixels || o.Height < least || o.Width < least || o.Height > maxImageSize || o.Width > maxImageSize {
		return nil, fault.New(fault.Argument, "pixels %d, %d x %d: want sizes of %d to %d", o.Pixel, o.Height, o.Width, least,
			maxImageSize)
	}
	images := in[:min(2, len(in))]
	if err := imageBytes(images); err != nil {
		return nil, err
	}
	n, _, _, err := imageSizes(o.Pixel, o.Interleaved, images)
	if err != nil {
		return nil, err
	}
	if n, err = regionsFit(n, in); err != nil {
		return nil, err
	}
	var out []tensor.Fact
	for _, s := range o.shapes(n, outs) {
		out = append(out, tensor.Fact{Type: tensor.Type{DType: tensor.Uint8, Shape: s}})
	}
	return out, nil
}

// shapes returns the shapes of the outputs.
func (o *ResizeImage) shapes(n tensor.Dim, outs int) []tensor.Shape {
	h, w := tensor.D(o.Height), tensor.D(o.Width)
	switch {
	case !o.Pixel.Semiplanar():
		return []tensor.Shape{imageOf(n, tensor.D(o.Pixel.Components()), []tensor.Dim{h, w}, o.Interleaved)}
	case outs == 1:
		return []tensor.Shape{tensor.OfDims(n, tensor.D(BlockRows(o.Height)), w)}
	}
	return []tensor.Shape{tensor.OfDims(n, h, w),
		tensor.OfDims(n, tensor.D(o.Height/2), tensor.D(o.Width/2), tensor.D(2))}
}

// regionsFit checks the regions against n images and returns their number.
func regionsFit(n tensor.Dim, in []tensor.Fact) (tensor.Dim, error) {
	if !present(in, 2) {
		return n, nil
	}
	if err := wantIndex(in, 2); err != nil {
		return n, err
	}
	if err := wantRank(in, 2, 2); err != nil || !in[2].Shape.Ranked {
		return n, err
	}
	s := in[2].Shape
	if _, err := agree(s.Dims[1], tensor.D(4), "left, top, right, bottom"); err != nil {
		return n, fault.Wrap(err, "input 2")
	}
	n, err := agree(n, s.Dims[0], "one region per image")
	return n, fault.Wrap(err, "input 2")
}

// ImageStep is the distance between cells of the result along an axis of src cells that becomes one of dst, in units of
// 1/65536.
func ImageStep(src, dst int64) int64 {
	if dst == 1 {
		return 0
	}
	return ((src-1)<<16 + (dst-1)/2) / (dst - 1)
}

// Decompose computes the places and weights in int64, gathers the four neighbours and mixes them.
func (o *ResizeImage) Decompose(b *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	p, err := newImageParts(b, o.Pixel, o.Interleaved, in[:min(2, len(in))])
	if err != nil {
		return nil, err
	}
	regions := graph.None
	if len(in) > 2 {
		regions = in[2]
	}
	q := &regionParts{Builder: b, n: p.n}
	box := q.boxes(regions, p.h, p.w)
	sizes := [][2]int64{{o.Height, o.Width}, {o.Height / 2, o.Width / 2}}
	for i := range p.planes {
		part := box
		if i == 1 {
			limits := []int64{p.w/2 - 1, p.h/2 - 1, p.w/2 - 1, p.h/2 - 1}
			for k := range part {
				part[k] = q.least(q.over(part[k], 2), limits[k])
			}
		}
		p.planes[i] = q.resize(p.planes[i], part, sizes[i][0], sizes[i][1])
	}
	var out []graph.Value
	n, h, w := p.n, o.Height, o.Width
	two := len(in) > 1 && in[1] != graph.None
	switch {
	case !o.Pixel.Semiplanar() && o.Interleaved:
		out = p.planes
	case !o.Pixel.Semiplanar():
		out = []graph.Value{b.Add(&Transpose{}, p.planes[0], b.Int64s(0, 3, 1, 2))}
	case two:
		out = []graph.Value{b.Add(&Reshape{}, p.planes[0], b.Int64s(n, h, w)), p.planes[1]}
	default:
		luma := b.Add(&Reshape{}, p.planes[0], b.Int64s(n, h, w))
		chroma := b.Add(&Reshape{}, p.planes[1], b.Int64s(n, h/2, w/2*2))
		if w%2 == 1 { // the last byte of a row belongs to no pair
			chroma = b.Add(&Pad{}, chroma, b.Int64s(0, 0, 0, 0, 0, 1))
		}
		out = []graph.Value{b.Add(&Concat{Axis: 1}, luma, chroma)}
	}
	return out, b.Err()
}

// regionParts computes places in int64; sizes of values are [N,1,1,1] unless they say otherwise.
type regionParts struct {
	*graph.Builder
	n int64
}

func (q *regionParts) scalar(v int64) graph.Value {
	return q.Const("", tensor.T(tensor.Int64, 1, 1, 1, 1), tensor.Int64s(v))
}

func (q *regionParts) least(v graph.Value, limit int64) graph.Value {
	return q.Add(&Min{}, v, q.scalar(limit))
}

// over is v / by for numbers that are not negative.
func (q *regionParts) over(v graph.Value, by int64) graph.Value {
	return q.Add(&Div{}, v, q.scalar(by))
}

func (q *regionParts) times(v graph.Value, by int64) graph.Value {
	return q.Add(&Mul{}, v, q.scalar(by))
}

// boxes returns left, top, right, bottom of the regions, cut to the image. A run fails where nothing is left.
func (q *regionParts) boxes(regions graph.Value, h, w int64) (box [4]graph.Value) {
	if regions == graph.None {
		whole := make([]int64, 0, 4*q.n)
		for range q.n {
			whole = append(whole, 0, 0, w-1, h-1)
		}
		regions = q.Const("", tensor.T(tensor.Int64, q.n, 4), tensor.Int64s(whole...))
	}
	regions = q.Add(&Cast{To: tensor.Int64}, regions)
	for k := range box {
		v := q.Add(&Slice{}, regions, q.Int64s(int64(k)), q.Int64s(int64(k)+1), q.Int64s(1))
		v = q.Add(&Reshape{}, v, q.Int64s(q.n, 1, 1, 1))
		if k < 2 {
			box[k] = q.Add(&Max{}, v, q.scalar(0))
		} else {
			box[k] = q.least(v, [...]int64{w - 1, h - 1}[k-2])
		}
	}
	for k := range 2 {
		q.Add(&Assert{}, q.Add(&LessEqual{}, box[k], box[k+2]), regions)
	}
	return box
}

// axis returns places [N,dst,1,1] or [N,1,dst,1] of the two neighbours of each cell and the weight of the second.
func (q *regionParts) axis(from, to graph.Value, dst int64, shape ...int64) (first, second, weight graph.Value) {
	last := q.Add(&Sub{}, to, from)
	step := q.scalar(0)
	if dst > 1 {
		step = q.over(q.Add(&Add{}, q.times(last, 1<<16), q.scalar((dst-1)/2)), dst-1)
	}
	index := q.Const("", tensor.T(tensor.Int64, shape...), tensor.Int64s(iota64(int(dst))...))
	at := q.Add(&Mul{}, index, step)
	cell := q.over(at, 1<<16)
	weight = q.Add(&Sub{}, at, q.times(cell, 1<<16))
	place := func(cell graph.Value) graph.Value { return q.Add(&Add{}, from, q.Add(&Min{}, cell, last)) }
	return place(cell), place(q.Add(&Add{}, cell, q.scalar(1))), weight
}

// resize makes [N,h,w,C] bytes of a plane [N,H,W,C].
func (q *regionParts) resize(x graph.Value, box [4]graph.Value, h, w int64) graph.Value {
	x = q.Add(&Cast{To: tensor.Int64}, x)
	top, bottom, fy := q.axis(box[1], box[3], h, 1, h, 1, 1)
	left, right, fx := q.axis(box[0], box[2], w, 1, 1, w, 1)
	full := q.Int64s(q.n, h, w, 1)
	at := func(row, col graph.Value) graph.Value {
		index := q.Add(&Concat{Axis: 3}, q.Add(&Expand{}, row, full), q.Add(&Expand{}, col, full))
		return q.Add(&GatherND{BatchDims: 1}, x, index)
	}
	mix := func(a, b, weight graph.Value) graph.Value {
		return q.Add(&Add{}, q.times(a, 1<<16), q.Add(&Mul{}, weight, q.Add(&Sub{}, b, a)))
	}
	y := mix(mix(at(top, left), at(top, right), fx), mix(at(bottom, left), at(bottom, right), fx), fy)
	return q.Add(&Cast{To: tensor.Uint8}, q.over(q.Add(&Add{}, y, q.scalar(1<<31)), 1<<32))
}

var _ graph.Composite = (*ResizeImage)(nil)
