package rknn

import "github.com/anynpu/anynpu/core/tensor"

// arrangement says where the elements of a tensor lie: for each image and channel a base, and from there the pixels in
// steps. Tensors of another rank than 4 are one channel of pixels.
type arrangement struct {
	images, channels, pixels int
	image                    int // elements from one image to the next
	step                     int // elements from one pixel to the next
	group                    int // NC1HWC2: channels that lie together, else 0
	interleaved              bool
}

// arrange gives the arrangement of a tensor with these dimensions, in the model's order, in a format. rows, if not 0,
// is the number of rows that each image takes in NHWC.
func arrange(dims []int64, f Format, c2 int64, rows uint32) arrangement {
	if len(dims) != 4 {
		n, _ := tensor.Count(dims)
		return arrangement{images: 1, channels: 1, pixels: int(n), step: 1}
	}
	a := arrangement{images: int(dims[0]), channels: int(dims[1]), pixels: int(dims[2] * dims[3]), step: 1}
	a.image = a.channels * a.pixels
	switch f {
	case NHWC:
		a.step, a.interleaved = a.channels, true
		if rows != 0 {
			a.image = int(rows) * int(dims[3]) * a.channels
		}
	case NC1HWC2:
		a.group, a.step = int(c2), int(c2)
		a.image = (a.channels + a.group - 1) / a.group * a.group * a.pixels
	}
	return a
}

// base is the first element of channel c of image n.
func (a *arrangement) base(n, c int) int {
	switch {
	case a.group > 0:
		return n*a.image + c/a.group*a.group*a.pixels + c%a.group
	case a.interleaved:
		return n*a.image + c
	}
	return n*a.image + c*a.pixels
}

// dense says whether elements lie as core has them: NCHW without gaps.
func (a *arrangement) dense() bool {
	own := a.channels * a.pixels
	return a.group == 0 && (a.images == 1 || a.image == own) && (!a.interleaved || a.channels == 1 || a.pixels == 1)
}

// elements is the number of elements from the first to behind the last one.
func (a *arrangement) elements() int64 {
	if a.image == 0 || a.images == 0 {
		return int64(a.channels) * int64(a.pixels)
	}
	if a.interleaved {
		return int64(a.images-1)*int64(a.image) + int64(a.channels)*int64(a.pixels)
	}
	return int64(a.images) * int64(a.image)
}
