package hbdnn

import (
	"encoding/binary"
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sizes and codes of hb_dnn.h and hb_sys.h.
const (
	maxDims     = 8
	sizeMemory  = 24
	sizeControl = 32

	flushInvalidate = 1
	flushClean      = 2

	quantNone  = 0
	quantShift = 1
	quantScale = 2

	layoutNHWC = 0
)

// The image types of hbDNNDataType.
const (
	imageY = iota
	imageNV12
	imageNV12Separate
	imageYUV444
	imageRGB
	imageBGR
)

// dtypes are core's types for hbDNNDataType, Invalid for those of half a byte.
var dtypes = [...]tensor.DType{tensor.Uint8, tensor.Uint8, tensor.Uint8, tensor.Uint8, tensor.Uint8, tensor.Uint8,
	tensor.Invalid, tensor.Invalid, tensor.Int8, tensor.Uint8, tensor.Float16, tensor.Int16, tensor.Uint16, tensor.Float32,
	tensor.Int32, tensor.Uint32, tensor.Float64, tensor.Int64, tensor.Uint64}

// sysMem is hbSysMem, and hbUCPSysMem of less than 4 GiB.
type sysMem struct {
	phys uint64
	virt uintptr
	size uint32
	_    uint32
}

// A generation is a version of the headers: what hbDNNTensorProperties has behind quantiType; or the newer generation
// of the API, which has structs of its own.
type generation struct {
	axis, stride bool
	newer        bool
}

// slots is the size of hbDNNTensor.sysMem.
func (g generation) slots() int {
	if g.newer {
		return sizeMemory
	}
	return 4 * sizeMemory
}

// generationOf returns the generation of a driver by its version, such as "1.9.7_(3.14.5 HBRT)".
func generationOf(version string) (g generation, err error) {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 || major != 1 {
		return g, fault.New(fault.Unsupported, "the driver has version %q: want 1.1 to 1.24", version)
	}
	return generation{axis: minor >= 14, stride: minor >= 18}, nil
}

// size is the size of hbDNNTensorProperties.
func (g generation) size() int {
	switch {
	case g.stride || g.newer:
		return 176
	case g.axis:
		return 144
	}
	return 136
}

// properties is hbDNNTensorProperties; pointers are numbers.
type properties struct {
	valid, aligned []int64
	layout, kind   int32
	shiftLen       int32
	shift          uintptr
	scaleLen       int32
	scale          uintptr
	zeroLen        int32
	zero           uintptr
	zeroWidth      int // bytes of a zero point
	quant          int32
	axis           int32 // -1: not said
	bytes          int64
	stride         []int64 // of the valid dimensions, in bytes; nil: not said
}

// read reads what a driver has written.
func (g generation) read(data []byte) (p properties, err error) {
	if g.newer {
		return readNewer(data)
	}
	word := func(at int) int32 { return int32(binary.NativeEndian.Uint32(data[at:])) }
	address := func(at int) uintptr { return uintptr(binary.NativeEndian.Uint64(data[at:])) }
	shape := func(what string, at int) (dims []int64) {
		rank := word(at + 4*maxDims)
		if rank < 0 || rank > maxDims {
			err = fault.New(fault.Device, "its %s shape has %d dimensions", what, rank)
			return nil
		}
		for i := range int(rank) {
			dims = append(dims, int64(word(at+4*i)))
		}
		return dims
	}
	p = properties{valid: shape("valid", 0), aligned: shape("aligned", 36), layout: word(72), kind: word(76),
		shiftLen: word(80), shift: address(88), scaleLen: word(96), scale: address(104), zeroLen: word(112),
		zero: address(120), zeroWidth: 1, quant: word(128), axis: -1}
	at := 132
	if g.axis {
		p.axis, at = word(at), at+4
	}
	p.bytes = int64(word(at))
	for i := range p.valid {
		if g.stride {
			p.stride = append(p.stride, int64(word(at+4+4*i)))
		}
	}
	return p, err
}
