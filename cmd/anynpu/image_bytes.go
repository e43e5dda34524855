package main

import (
	"io"
	"math"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// readImage turns an image file into the tensor of port p: pixel (as in metadata) channels in the wanted order, minus
// mean, divided by std, in the port's layout, with a batch of 1. An image of another size is resized when the port's
// height and width are fixed. cautions say what a network may not expect of it. part is the part of an image that the
// port takes as bytes, nil if it takes none.
func readImage(f io.ReadSeeker, p device.Port, in metadata.Input, part *model.Image) (t tensor.Tensor,
	cautions []string, err error) {
	img, err := decodeImage(f)
	if err != nil {
		return t, nil, err
	}
	cautions = img.cautions(p, in)
	if part != nil {
		t, err = img.bytes(part, p, in)
	} else {
		t, err = img.tensor(p, in)
	}
	return t, cautions, err
}

// bytes returns the input of port p, which takes part of an image. Nodes in front of the network make real numbers of
// them. An image of another size is resized to the port's. Regions are the whole image. in are the metadata of the
// port.
func (img pixels) bytes(im *model.Image, p device.Port, in metadata.Input) (tensor.Tensor, error) {
	pixel := im.Decode.Pixel
	switch {
	case im.Part == model.ImageRegions:
		t := tensor.New(tensor.Int32, 1, 4)
		tensor.PutInt(tensor.Int32, t.Data, 2, int64(img.width-1))
		tensor.PutInt(tensor.Int32, t.Data, 3, int64(img.height-1))
		return t, nil
	case !pixel.Semiplanar() && pixel != op.PixelYUV444:
		t, err := img.tensor(p, in)
		if err == nil && im.Signed {
			flip(t.Data)
		}
		return t, err
	}
	img, err := img.sized(im, p)
	if err != nil {
		return tensor.Tensor{}, err
	}
	h, w := int64(img.height), int64(img.width)
	if err := mem.Admit(6 * h * w); err != nil {
		return tensor.Tensor{}, err
	}
	img = img.as(3)
	c := colorsOf(im.Decode.Range)
	switch {
	case pixel == op.PixelYUV444:
		return img.yuv444(im, c), nil
	case im.Part == model.ImageLuma:
		return tensor.Tensor{DType: tensor.Uint8, Dims: []int64{1, h, w}, Data: img.luma(c)}, nil
	case im.Part == model.ImageChroma:
		return tensor.Tensor{DType: tensor.Uint8, Dims: []int64{1, h / 2, w / 2, 2},
			Data: img.pairs(c, pixel, img.width/2*2)}, nil
	}
	return tensor.Tensor{DType: tensor.Uint8, Dims: []int64{1, op.BlockRows(h), w},
		Data: append(img.luma(c), img.pairs(c, pixel, img.width)...)}, nil
}

// sized is the image in the size that the port has, where it has one.
func (img pixels) sized(im *model.Image, p device.Port) (pixels, error) {
	dims := []int64{}
	for i, d := range p.Type.Shape.Dims {
		switch {
		case d.Known():
			dims = append(dims, d.N)
		case i == 0:
			dims = append(dims, 1)
		default:
			return img, nil
		}
	}
	_, h, w := im.Size(dims)
	if h < 1 || w < 1 || w > maxPixels/h {
		return img, fault.New(fault.Shape, "an image for an input of %v [tool-image-input]", p.Type.Shape)
	}
	return img.resized(int(h), int(w)), nil
}

// flip makes pixels - 128 of pixels.
func flip(data []byte) {
	for i := range data {
		data[i] ^= 128
	}
}

// colors turn red, green and blue into luma and chroma: the inverse of op.ImageRange's formulas.
type colors struct {
	red, blue    float64 // green's chroma for each of red's and of blue's
	toRed, toBlu float64 // a step of chroma, in steps of red and blue
	step, base   float64 // of luma
}

func colorsOf(r op.ImageRange) colors {
	if r == op.RangeVideo {
		return colors{0.813 / 1.596, 0.391 / 2.018, 1.596, 2.018, 1.164, 16}
	}
	return colors{0.714136 / 1.402, 0.344136 / 1.772, 1.402, 1.772, 1, 0}
}

// of returns luma, blue and red chroma, none of them rounded; chroma is that minus 128.
func (c colors) of(rgb []byte) (y, u, v float64) {
	r, g, b := float64(rgb[0]), float64(rgb[1]), float64(rgb[2])
	z := (g + c.red*r + c.blue*b) / (1 + c.red + c.blue)
	return c.base + z/c.step, (b - z) / c.toBlu, (r - z) / c.toRed
}

// asByte rounds and saturates.
func asByte(v float64) byte { return byte(min(max(math.Floor(v+0.5), 0), 255)) }

// luma is a byte for each pixel.
func (img pixels) luma(c colors) []byte {
	out := make([]byte, img.height*img.width)
	for i := range out {
		y, _, _ := c.of(img.data[3*i:])
		out[i] = asByte(y)
	}
	return out
}

// pairs are the means of chroma of the blocks of 2 x 2, in rows of pitch bytes.
func (img pixels) pairs(c colors, pixel op.Pixel, pitch int) []byte {
	out := make([]byte, img.height/2*pitch)
	for row := range img.height / 2 {
		for column := range img.width / 2 {
			var u, v float64
			for k := range 4 {
				at := (2*row+k/2)*img.width + 2*column + k%2
				_, du, dv := c.of(img.data[3*at:])
				u, v = u+du/4, v+dv/4
			}
			if pixel == op.PixelNV21 {
				u, v = v, u
			}
			out[row*pitch+2*column], out[row*pitch+2*column+1] = asByte(128+u), asByte(128+v)
		}
	}
	return out
}

// yuv444 has three bytes for each pixel.
func (img pixels) yuv444(im *model.Image, c colors) tensor.Tensor {
	h, w, size := int64(img.height), int64(img.width), img.height*img.width
	t := tensor.New(tensor.Uint8, 1, 3, h, w)
	step, plane := 1, size
	if im.Decode.Interleaved {
		t.Dims, step, plane = []int64{1, h, w, 3}, 3, 1
	}
	for i := range size {
		y, u, v := c.of(img.data[3*i:])
		for k, x := range []float64{y, 128 + u, 128 + v} {
			t.Data[i*step+k*plane] = asByte(x)
		}
	}
	if im.Signed {
		flip(t.Data)
	}
	return t
}
