package nnapi

import (
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// OperationType is ANeuralNetworksOperationType.
type OperationType int32

// OperandType is the struct ANeuralNetworksOperandType.
type OperandType struct {
	code           int32
	dimensionCount uint32
	dimensions     *uint32
	scale          float32
	zeroPoint      int32
}

// read copies the struct and its dimensions, and judges the operand that it describes by the rules of addOperand.
func (t *OperandType) read() (nnapi.Operand, error) {
	o := nnapi.Operand{Type: nnapi.OperandCode(t.code), Scale: t.scale, ZeroPoint: t.zeroPoint}
	if (t.dimensions == nil) != (t.dimensionCount == 0) {
		return o, badData("dimensions: %p with dimensionCount %d: want NULL exactly when the count is 0 "+
			"[nnapi-dimensions-dimension-count]", t.dimensions,
			t.dimensionCount)
	}
	if o.Type.IsScalar() && t.dimensionCount > 0 {
		return o, badData("dimensionCount: %d: %v is a scalar and has none "+
			"[nnapi-dimension-count-scalar]", t.dimensionCount, o.Type)
	}
	if t.dimensionCount > maxRank {
		return o, badData("dimensionCount: %d: want at most %d [nnapi-dimension-count]", t.dimensionCount, maxRank)
	}
	dims, err := elements(t.dimensions, uint64(t.dimensionCount), "dimensions")
	if err != nil {
		return o, err
	}
	o.Dims = slices.Clone(dims)
	return o, nnapi.CheckOperand(&o, settings().level)
}

// maxRank bounds the dimensions of an operand. The API has no bound; its operations take up to 8.
const maxRank = 1 << 10

// ChannelScales is the struct ANeuralNetworksSymmPerChannelQuantParams.
type ChannelScales struct {
	channelDim uint32
	scaleCount uint32
	scales     *float32
}

// elements returns n elements of C memory at p, which is not NULL unless n is 0.
func elements[T any](p *T, n uint64, name string) ([]T, error) {
	var t T
	if n > 1<<40 {
		return nil, badData("%s: %d elements do not fit into memory [nnapi-elements-fit-memory]", name, n)
	}
	if err := boundary.CheckRange(unsafe.Pointer(p), n*uint64(unsafe.Sizeof(t))); err != nil {
		return nil, refuseFor(BadData, err, "%s", name)
	}
	return unsafe.Slice(p, int(n)), nil
}

// guarded calls f, which touches memory of the program: memory that cannot be accessed is an error of f's.
func guarded(what string, f func() error) error {
	return io.Guarded(f, func(addr uintptr) error {
		return fault.New(fault.Argument, "%s cannot be read or written at address %#x: the program has unmapped it, or cut "+
			"its file [nnapi-read-written-address]", what, addr)
	})
}
