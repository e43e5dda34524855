package hbdnn

import (
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
)

// dnnUnquantizeByScale multiplies integers by the scale of their index in the last dimension.
func dnnUnquantizeByScale(output unsafe.Pointer, kind int32, shape *TensorShape, scales, input unsafe.Pointer) error {
	return unquantize(output, kind, layoutNone, shape, scales, input)
}

// dnnUnquantizeByScaleFormer multiplies integers by the scale of their channel, whose place the layout tells.
func dnnUnquantizeByScaleFormer(output unsafe.Pointer, kind, layout int32, shape *TensorShape, scales,
	input unsafe.Pointer) error {
	if layout != layoutNone {
		if err := checkLayout("layout", layout); err != nil {
			return err
		}
	}
	return unquantize(output, kind, layout, shape, scales, input)
}

// unquantize multiplies by the scale of the index in the dimension of channels: the last one, unless the layout has it
// elsewhere, which takes four dimensions.
func unquantize(output unsafe.Pointer, kind, layout int32, shape *TensorShape, scales,
	input unsafe.Pointer) (err error) {
	for _, p := range []struct {
		name string
		at   unsafe.Pointer
	}{{"output", output}, {"scales", scales}, {"input", input}} {
		if p.at == nil {
			return invalid("%s is NULL [hbdnn-argument-null]", p.name)
		}
	}
	dims, ok := shape.list()
	if !ok || len(dims) == 0 {
		return invalid("inputShape.numDimensions is %d: want 1 to %d [hbdnn-input-shape-num]", shape.rank, maxDims)
	}
	axis := len(dims) - 1
	if layout == layoutNCHW || layout == layoutNHCW {
		if len(dims) != 4 {
			return invalid("inputShape.numDimensions is %d: want 4 for the layout %s "+
				"[hbdnn-input-shape-num-dimensions]", shape.rank, layoutName(layout))
		}
		axis = orders[layout][3]
	}
	n, inner := int64(1), int64(1)
	for i, d := range dims {
		if d < 1 || n > maxBytes/d {
			return invalid("inputShape.dimensionSize[%d] is %d: want at least 1, and fewer than 2^46 elements in "+
				"all [hbdnn-input-shape-dimension]", i, d)
		}
		if n *= d; i > axis {
			inner *= d
		}
	}
	size := elementSize(kind)
	if size == 0 || size > 4 || kind == typeF16 || kind == typeF32 {
		return invalid("dataType is %s (%d): want S8, U8, S16, U16, S32 or U32 "+
			"[hbdnn-data-type-s8-u8]", typeName(kind), kind)
	}
	channels := dims[axis]
	src, dst, err := ranges(uintptr(input), n*size, uintptr(output), n*4)
	if err != nil {
		return err
	}
	if err := boundary.CheckRange(scales, uint64(channels*4)); err != nil {
		return fault.Wrap(err, "scales")
	}
	return hb.Guarded(errArgument, "input, scales or output: memory", func() error {
		factors := unsafe.Slice((*float32)(scales), int(channels))
		for i := range n {
			v := float32(integer(kind, src[i*size:])) * factors[i/inner%channels]
			putUint32(dst[i*4:], math.Float32bits(v))
		}
		return nil
	})
}
