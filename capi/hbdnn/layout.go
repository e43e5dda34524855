package hbdnn

import (
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Conversions of tensors in a program's memory (section 2, extension header). Sizes of four dimensions are in the order
// of their layout; coordinates and the sizes of parts are in the order N, H, W, C. The native layout of this library is
// NHCW without gaps.

// orders are the places of N, H, W and C in each layout.
var orders = map[int32][4]int{layoutNHWC: {0, 1, 2, 3}, layoutNHCW: {0, 1, 3, 2}, layoutNCHW: {0, 2, 3, 1}}

// maxBytes bounds the memory that a shape may describe.
const maxBytes = 1 << 46

// four returns the sizes of a shape of four dimensions of at least least, N, H, W, C.
func four(name string, s *TensorShape, layout int32, least int64) (out [4]int64, err error) {
	if s.rank != 4 {
		return out, invalid("%s.numDimensions is %d: want 4 [hbdnn-num-dimensions]", name, s.rank)
	}
	n := int64(1)
	for i, at := range orders[layout] {
		out[i] = int64(s.dims[at])
		if out[i] < least {
			return out, invalid("%s.dimensionSize[%d] is %d: want at least %d "+
				"[hbdnn-dimension-size]", name, at, out[i], least)
		}
		if n *= max(out[i], 1); n > maxBytes {
			return out, invalid("%s has the sizes %v, which are too many elements "+
				"[hbdnn-sizes-elements]", name, s.dims[:4])
		}
	}
	return out, nil
}

// sizeOf returns the size of an element of a type, an error for a type without one.
func sizeOf(kind int32) (int64, error) {
	n := elementSize(kind)
	if n == 0 {
		return 0, invalid("dataType is %s (%d): want S8, U8, F16, S16, U16, F32, S32, U32, F64, S64 or U64 "+
			"[hbdnn-data-type-s8]", typeName(kind),
			kind)
	}
	return n, nil
}

func checkLayout(name string, layout int32) error {
	if _, ok := orders[layout]; !ok {
		return invalid("%s is %s (%d): want NHWC (0), NHCW_NATIVE (1) or NCHW (2) "+
			"[hbdnn-nhwc-nhcw-native]", name, layoutName(layout), layout)
	}
	return nil
}

// strides are the elements from one N, H, W and C to the next in a layout.
func strides(layout int32, sizes [4]int64) (out [4]int64) {
	at := orders[layout]
	step := int64(1)
	for place := 3; place >= 0; place-- {
		i := slices.Index(at[:], place)
		out[i] = step
		step *= sizes[i]
	}
	return out
}

func product(sizes [4]int64) int64 { return sizes[0] * sizes[1] * sizes[2] * sizes[3] }

// dnnConvertLayout turns a whole tensor.
func dnnConvertLayout(output uintptr, outLayout int32, input uintptr, inLayout, kind int32, shape *TensorShape,
	swap bool) error {
	if err := checkLayout("inputLayout", inLayout); err != nil {
		return err
	}
	sizes, err := four("inputShape", shape, inLayout, 1)
	if err != nil {
		return err
	}
	return convertPart(output, outLayout, input, inLayout, kind, shape, swap, [4]int64{}, sizes)
}

// dnnConvertLayoutRoi turns the part of size from coord on.
func dnnConvertLayoutRoi(output uintptr, outLayout int32, input uintptr, inLayout, kind int32, shape *TensorShape,
	swap bool, coord, size *TensorShape) error {
	at, err := four("coord", coord, layoutNHWC, 0)
	if err != nil {
		return err
	}
	sizes, err := four("size", size, layoutNHWC, 1)
	if err != nil {
		return err
	}
	return convertPart(output, outLayout, input, inLayout, kind, shape, swap, at, sizes)
}

// dnnConvertLayoutRoiFormer turns the rows and columns of box, edges included, of all images and channels.
func dnnConvertLayoutRoiFormer(output uintptr, outLayout int32, input uintptr, inLayout, kind int32, shape *TensorShape,
	swap bool, box *Roi) error {
	if err := checkLayout("inputLayout", inLayout); err != nil {
		return err
	}
	all, err := four("inputShape", shape, inLayout, 1)
	if err != nil {
		return err
	}
	switch {
	case box.left < 0 || box.top < 0:
		return invalid("box begins at row %d, column %d: want at least 0 [hbdnn-box-begins-row]", box.top, box.left)
	case box.right < box.left || box.bottom < box.top:
		return invalid("box has the rows %d to %d and columns %d to %d: want at least one of each "+
			"[hbdnn-box-rows-columns]", box.top, box.bottom,
			box.left, box.right)
	}
	return convertPart(output, outLayout, input, inLayout, kind, shape, swap,
		[4]int64{0, int64(box.top), int64(box.left), 0},
		[4]int64{all[0], int64(box.bottom) - int64(box.top) + 1, int64(box.right) - int64(box.left) + 1, all[3]})
}

// dnnConvertLayoutToNative1HW1 turns one channel of one image.
func dnnConvertLayoutToNative1HW1(output, input uintptr, inLayout, kind int32, shape *TensorShape, swap bool,
	n, c uint32) error {
	if err := checkLayout("inputLayout", inLayout); err != nil {
		return err
	}
	all, err := four("inputShape", shape, inLayout, 1)
	if err != nil {
		return err
	}
	return convertPart(output, layoutNHCW, input, inLayout, kind, shape, swap, [4]int64{int64(n), 0, 0, int64(c)},
		[4]int64{1, all[1], all[2], 1})
}

// dnnConvertLayoutToNative111C turns all channels of one pixel.
func dnnConvertLayoutToNative111C(output, input uintptr, inLayout, kind int32, shape *TensorShape, swap bool,
	n, h, w uint32) error {
	if err := checkLayout("inputLayout", inLayout); err != nil {
		return err
	}
	all, err := four("inputShape", shape, inLayout, 1)
	if err != nil {
		return err
	}
	return convertPart(output, layoutNHCW, input, inLayout, kind, shape, swap,
		[4]int64{int64(n), int64(h), int64(w), 0}, [4]int64{1, 1, 1, all[3]})
}

// dnnConvertLayoutToNative1111 turns one element.
func dnnConvertLayoutToNative1111(output, input uintptr, inLayout, kind int32, shape *TensorShape, swap bool,
	coord *TensorShape) error {
	at, err := four("coord", coord, layoutNHWC, 0)
	if err != nil {
		return err
	}
	return convertPart(output, layoutNHCW, input, inLayout, kind, shape, swap, at, [4]int64{1, 1, 1, 1})
}

// dnnConvertLayoutToNative1111Former turns the element of the first image and channel at the left top corner of box.
func dnnConvertLayoutToNative1111Former(output, input uintptr, inLayout, kind int32, shape *TensorShape, swap bool,
	box *Roi) error {
	if box.left < 0 || box.top < 0 {
		return invalid("box begins at row %d, column %d: want at least 0 [hbdnn-box-begins-row]", box.top, box.left)
	}
	return convertPart(output, layoutNHCW, input, inLayout, kind, shape, swap,
		[4]int64{0, int64(box.top), int64(box.left), 0}, [4]int64{1, 1, 1, 1})
}

// convertPart turns the part of these sizes from at on, and the bytes of each element around where swap says so.
func convertPart(output uintptr, outLayout int32, input uintptr, inLayout, kind int32, shape *TensorShape, swap bool,
	at, sizes [4]int64) (err error) {
	if err := checkLayout("outputLayout", outLayout); err != nil {
		return err
	}
	if err := checkLayout("inputLayout", inLayout); err != nil {
		return err
	}
	all, err := four("inputShape", shape, inLayout, 1)
	if err != nil {
		return err
	}
	element, err := sizeOf(kind)
	if err != nil {
		return err
	}
	for i, axis := range []string{"N", "H", "W", "C"} {
		if at[i]+sizes[i] > all[i] {
			return invalid("%d of dimension %s from %d on: the input has %d "+
				"[hbdnn-dimension-input]", sizes[i], axis, at[i], all[i])
		}
	}
	src, dst, err := ranges(input, product(all)*element, output, product(sizes)*element)
	if err != nil {
		return err
	}
	return hb.Guarded(errArgument, "input or output: memory", func() error {
		from, to := strides(inLayout, all), strides(outLayout, sizes)
		for n := range sizes[0] {
			for h := range sizes[1] {
				for w := range sizes[2] {
					read := (at[0]+n)*from[0] + (at[1]+h)*from[1] + (at[2]+w)*from[2] + at[3]*from[3]
					write := n*to[0] + h*to[1] + w*to[2]
					for c := range sizes[3] {
						one := dst[(write+c*to[3])*element:][:element]
						copy(one, src[(read+c*from[3])*element:])
						if swap {
							slices.Reverse(one)
						}
					}
				}
			}
		}
		return nil
	})
}

// ranges are the bytes that a conversion reads and writes.
func ranges(input uintptr, in int64, output uintptr, out int64) (src, dst []byte, err error) {
	if in > maxBytes || out > maxBytes {
		return nil, nil, invalid("input has %d bytes, output %d: that is too many [hbdnn-input-bytes-output]", in, out)
	}
	if err := boundary.CheckRange(cPointer(input), uint64(in)); err != nil {
		return nil, nil, fault.Wrap(err, "input")
	}
	if err := boundary.CheckRange(cPointer(output), uint64(out)); err != nil {
		return nil, nil, fault.Wrap(err, "output")
	}
	return bytesAt(input, in), bytesAt(output, out), nil
}

// dnnConvertEndianness turns the order of all bytes around, also in place.
func dnnConvertEndianness(output, input []byte) (err error) {
	if len(input) == 0 {
		return invalid("size is 0: want the bytes of a number [hbdnn-size-bytes-number]")
	}
	if &output[0] != &input[0] && mem.Overlap(output, input) {
		return invalid("output and input, of %d bytes each, overlap: want the same address, or memory apart "+
			"[hbdnn-output-input-bytes]", len(input))
	}
	return hb.Guarded(errArgument, "input or output: memory", func() error {
		copy(output, input)
		slices.Reverse(output)
		return nil
	})
}
