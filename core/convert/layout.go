package convert

import "github.com/anynpu/anynpu/core/tensor"

// Order is an order of the dimensions of an image in memory.
type Order uint8

// The orders.
const (
	NCHW    Order = iota // planes of pixels, one per channel
	NHWC                 // pixels, with all channels of one together
	NC1HWC2              // groups of C2 channels, each as NHWC; the last one is filled up
)

// Layout says where the elements of a tensor of rank 4 lie.
type Layout struct {
	Order
	C1   int // groups of NC1HWC2, 0: as many as the channels fill
	C2   int // channels of a group of NC1HWC2
	Rows int // rows that each image of NHWC takes, 0: its own
}

// Arrangement is a layout of certain sizes: for each image and channel a base, and from there the pixels in steps.
// Tensors of another rank than 4 are one channel of pixels.
type Arrangement struct {
	Images, Channels, Pixels int

	image       int // elements from one image to the next
	step        int // elements from one pixel to the next
	group       int // NC1HWC2: channels that lie together, else 0
	least       int // groups that there are at least
	interleaved bool
}

// Arrange gives the arrangement of a tensor with these dimensions, in the order NCHW, in a layout.
func Arrange(dims []int64, l Layout) Arrangement {
	if len(dims) != 4 {
		n, _ := tensor.Count(dims)
		return Arrangement{Images: 1, Channels: 1, Pixels: int(n), step: 1}
	}
	a := Arrangement{Images: int(dims[0]), Channels: int(dims[1]), Pixels: int(dims[2] * dims[3]), step: 1}
	a.image = a.Channels * a.Pixels
	switch l.Order {
	case NHWC:
		a.step, a.interleaved = a.Channels, true
		if l.Rows != 0 {
			a.image = l.Rows * int(dims[3]) * a.Channels
		}
	case NC1HWC2:
		a.group, a.least, a.step = l.C2, l.C1, l.C2
		a.image = a.groups() * a.group * a.Pixels
	}
	return a
}

// groups is the number of groups of channels of NC1HWC2.
func (a *Arrangement) groups() int { return max((a.Channels+a.group-1)/a.group, a.least) }

// base is the first element of channel c of image n.
func (a *Arrangement) base(n, c int) int {
	switch {
	case a.group > 0:
		return n*a.image + c/a.group*a.group*a.Pixels + c%a.group
	case a.interleaved:
		return n*a.image + c
	}
	return n*a.image + c*a.Pixels
}

// Dense reports whether elements lie as in NCHW without gaps.
func (a *Arrangement) Dense() bool {
	own := a.Channels * a.Pixels
	return a.group == 0 && (a.Images == 1 || a.image == own) && (!a.interleaved || a.Channels == 1 || a.Pixels == 1)
}

// same reports whether elements lie in both as in the other, of the same sizes.
func (a *Arrangement) same(b *Arrangement) bool {
	return a.Dense() && b.Dense() || a.interleaved && b.interleaved && (a.Images == 1 || a.image == b.image)
}

// flat is an interleaved arrangement as images of one channel whose pixels are all of its elements.
func (a *Arrangement) flat() Arrangement {
	return Arrangement{Images: a.Images, Channels: 1, Pixels: a.Channels * a.Pixels, image: a.image, step: 1}
}

// Elements is the number of elements from the first to behind the last one.
func (a *Arrangement) Elements() int64 {
	if a.image == 0 || a.Images == 0 {
		return int64(a.Channels) * int64(a.Pixels)
	}
	if a.interleaved {
		return int64(a.Images-1)*int64(a.image) + int64(a.Channels)*int64(a.Pixels)
	}
	return int64(a.Images) * int64(a.image)
}
