package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Pixel is the format of the bytes of an image.
type Pixel uint8

// The kinds of pixels. Images of one or three components are tensors of rank 4, [N,C,H,W] or, interleaved, [N,H,W,C].
// NV12 and NV21 have a plane of luma and one of pairs of chroma, a pair for 2 x 2 pixels: of an odd size the last row
// or column of pixels shares the chroma of the one before. They are one tensor [N,H+H/2,W], whose last H/2 rows begin
// with W/2 pairs, or two, [N,H,W] and [N,H/2,W/2,2]; H/2 and W/2 are rounded down, H and W are at least 2.
const (
	PixelGray   Pixel = iota
	PixelRGB          // red, green, blue
	PixelBGR          // blue, green, red
	PixelYUV444       // luma, blue chroma, red chroma
	PixelNV12         // pairs of blue chroma, red chroma
	PixelNV21         // pairs of red chroma, blue chroma
	pixels
)

// String returns the name that metadata have for it.
func (p Pixel) String() string {
	return [pixels + 1]string{"gray", "rgb", "bgr", "yuv444", "nv12", "nv21", "?"}[min(p, pixels)]
}

// Semiplanar reports whether chroma has a plane of its own, of half the height and width.
func (p Pixel) Semiplanar() bool { return p == PixelNV12 || p == PixelNV21 }

// Components is the number of components of a pixel.
func (p Pixel) Components() int64 {
	if p == PixelGray {
		return 1
	}
	return 3
}

// Region is a part of an image: the columns from Left to Right and the rows from Top to Bottom, all of them included.
type Region struct{ Left, Top, Right, Bottom int64 }

// Within returns what of the region lies in an image of h rows and w columns. Kind fault.Data for a region that is
// reversed or wholly outside.
func (r Region) Within(h, w int64) (Region, error) {
	s := Region{max(r.Left, 0), max(r.Top, 0), min(r.Right, w-1), min(r.Bottom, h-1)}
	switch {
	case r.Left > r.Right || r.Top > r.Bottom:
		return r, fault.New(fault.Data, "the region from column %d to %d and row %d to %d is reversed", r.Left, r.Right,
			r.Top, r.Bottom)
	case s.Left > s.Right || s.Top > s.Bottom:
		return r, fault.New(fault.Data, "the region from column %d to %d and row %d to %d lies outside the image of %d rows "+
			"and %d columns", r.Left, r.Right, r.Top, r.Bottom, h, w)
	}
	return s, nil
}

// Chroma returns the part of the chroma plane that belongs to the region, which lies in an image of h rows and w
// columns of NV12 or NV21.
func (r Region) Chroma(h, w int64) Region {
	return Region{min(r.Left/2, w/2-1), min(r.Top/2, h/2-1), min(r.Right/2, w/2-1), min(r.Bottom/2, h/2-1)}
}

// BlockHeight returns the number of rows of pixels in an NV12 block of the given number of rows, ok false for a number
// that no block has.
func BlockHeight(rows int64) (h int64, ok bool) { return (2*rows + 1) / 3, rows >= 3 && rows%3 != 2 }

// BlockRows returns the number of rows of an NV12 block of h rows of pixels.
func BlockRows(h int64) int64 { return h + h/2 }

// imageBytes checks that the images in in, of which none may be quantized, are bytes.
func imageBytes(in []tensor.Fact) error {
	for i := range in {
		if !present(in, i) {
			continue
		}
		if err := wantType(in, i, "bytes (uint8)", func(d tensor.DType) bool { return d == tensor.Uint8 }); err != nil {
			return err
		}
		if in[i].Quant != nil {
			return fault.New(fault.Type, "input %d: want plain bytes, got quantized ones", i)
		}
	}
	return nil
}

// imageSizes checks the shapes of an image, in one tensor or two, and returns batch, height and width.
func imageSizes(p Pixel, interleaved bool, in []tensor.Fact) (n, h, w tensor.Dim, err error) {
	n, h, w = tensor.AnyDim(), tensor.AnyDim(), tensor.AnyDim()
	two := present(in, 1)
	switch {
	case two && !p.Semiplanar():
		return n, h, w, fault.New(fault.Argument, "input 1: %v has one plane", p)
	case !p.Semiplanar():
		if err := wantRank(in, 0, 4); err != nil || !in[0].Shape.Ranked {
			return n, h, w, err
		}
		s := in[0].Shape
		c, y, x := imageAxes(interleaved)
		if _, err := agree(s.Dims[c], tensor.D(p.Components()), "components of "+p.String()); err != nil {
			return n, h, w, fault.Wrap(err, "input 0")
		}
		n, h, w = s.Dims[0], s.Dims[y], s.Dims[x]
	default:
		if err := wantRank(in, 0, 3); err != nil {
			return n, h, w, err
		}
		if s := in[0].Shape; s.Ranked {
			n, h, w = s.Dims[0], s.Dims[1], s.Dims[2]
		}
		if !two {
			if h, err = blockHeight(h); err != nil {
				return n, h, w, fault.Wrap(err, "input 0: %v", in[0].Shape)
			}
		} else if n, err = chromaFits(n, h, w, in); err != nil {
			return n, h, w, err
		}
	}
	least := int64(1)
	if p.Semiplanar() {
		least = 2
	}
	for _, d := range []tensor.Dim{h, w} {
		if d.Known() && d.N < least {
			return n, h, w, fault.New(fault.Shape, "input 0: %v: want images of at least %d rows and columns", in[0].Shape,
				least)
		}
	}
	return n, h, w, nil
}

func blockHeight(rows tensor.Dim) (tensor.Dim, error) {
	if !rows.Known() {
		return tensor.AnyDim(), nil
	}
	h, ok := BlockHeight(rows.N)
	if !ok {
		return rows, fault.New(fault.Shape, "no image has %d rows of luma and chroma: want H + H/2", rows.N)
	}
	return tensor.D(h), nil
}

// chromaFits checks the plane of pairs against the sizes of luma and returns the batch.
func chromaFits(n, h, w tensor.Dim, in []tensor.Fact) (tensor.Dim, error) {
	if err := wantRank(in, 1, 4); err != nil || !in[1].Shape.Ranked {
		return n, err
	}
	half := func(d tensor.Dim) tensor.Dim {
		if !d.Known() {
			return tensor.AnyDim()
		}
		return tensor.D(d.N / 2)
	}
	s := in[1].Shape
	n, err := agree(n, s.Dims[0], "as many images as input 0")
	for i, want := range []tensor.Dim{half(h), half(w), tensor.D(2)} {
		if err == nil {
			_, err = agree(want, s.Dims[i+1], "half the rows and columns of input 0 and pairs")
		}
	}
	return n, fault.Wrap(err, "input 1")
}
