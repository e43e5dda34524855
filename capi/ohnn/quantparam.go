package ohnn

import (
	"slices"
	"sync"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// A QuantParam is an NN_QuantParam: three lists, one entry per tensor or per channel (OH_NN reference notes, section 5). Lists of
// different lengths are refused only where they are attached to a tensor.
type QuantParam struct {
	handle.Ref
	mu         sync.Mutex
	scales     []float64
	zeroPoints []int32
	numBits    []uint32
}

// quantParamCreate is OH_NNQuantParam_Create.
func quantParamCreate() (*QuantParam, error) { return &QuantParam{}, nil }

// quantParamDestroy is OH_NNQuantParam_Destroy.
func quantParamDestroy(*QuantParam) error { return nil }

// quantParamSetScales is OH_NNQuantParam_SetScales; it replaces the former list.
func quantParamSetScales(q *QuantParam, scales []float64) error {
	return setList(q, &q.scales, scales)
}

// quantParamSetZeroPoints is OH_NNQuantParam_SetZeroPoints; it replaces the former list.
func quantParamSetZeroPoints(q *QuantParam, zeroPoints []int32) error {
	return setList(q, &q.zeroPoints, zeroPoints)
}

// quantParamSetNumBits is OH_NNQuantParam_SetNumBits; it replaces the former list. The values are judged where they are attached.
func quantParamSetNumBits(q *QuantParam, numBits []uint32) error {
	return setList(q, &q.numBits, numBits)
}

func setList[T any](q *QuantParam, list *[]T, values []T) error {
	if len(values) == 0 {
		return fault.New(fault.Argument, "quantCount: want at least 1, got 0")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	*list = slices.Clone(values)
	return nil
}
