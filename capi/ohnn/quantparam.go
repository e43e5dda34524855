package ohnn

import (
	"cmp"
	"sync"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/mem"
)

// QuantParam is an NN_QuantParam (section 5): three lists that are compared only when they are given to a tensor.
type QuantParam struct {
	handle.Ref
	mu sync.Mutex
	quant
}

// quant holds quantization parameters: real = scale x (q - zero), one entry for the tensor or one per channel.
type quant struct {
	scales []float64
	zeros  []int32
	bits   []uint32
}

// clone copies the lists. Kind fault.Memory.
func (q quant) clone() (quant, error) {
	scales, err := mem.Clone(q.scales)
	zeros, errZeros := mem.Clone(q.zeros)
	bits, errBits := mem.Clone(q.bits)
	return quant{scales, zeros, bits}, cmp.Or(err, errZeros, errBits)
}

// maxChannels bounds the lists: a count that no tensor has channels for is a variable that was never set.
const maxChannels = 1 << 20

// check refuses lists that cannot belong to a tensor.
func (q quant) check() error {
	if len(q.scales) != len(q.zeros) || len(q.scales) != len(q.bits) {
		return invalid("quantParam: %d scales, %d zero points, %d bit widths: want as many of each "+
			"[ohnn-quant-param-scales]", len(q.scales),
			len(q.zeros), len(q.bits))
	}
	for i, b := range q.bits {
		if b != 8 {
			return invalid("quantParam: numBits[%d]: %d: only 8 is supported [ohnn-quant-param-num-bits]", i, b)
		}
	}
	return nil
}

func quantParamCreate() (*QuantParam, error) { return &QuantParam{}, nil }

func quantParamDestroy(*QuantParam) error { return nil }

func quantParamSetScales(q *QuantParam, scales []float64) error {
	return setList(q, &q.scales, scales)
}

func quantParamSetZeroPoints(q *QuantParam, zeroPoints []int32) error {
	return setList(q, &q.zeros, zeroPoints)
}

// quantParamSetNumBits takes any widths; only 8 is accepted by a tensor.
func quantParamSetNumBits(q *QuantParam, numBits []uint32) error {
	return setList(q, &q.bits, numBits)
}

func setList[T any](q *QuantParam, list *[]T, v []T) error {
	if len(v) == 0 || len(v) > maxChannels {
		return invalid("quantCount: %d: want 1 to %d [ohnn-quant-count]", len(v), maxChannels)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	kept, err := mem.Clone(v)
	if err != nil {
		return err
	}
	*list = kept
	return nil
}

func (q *QuantParam) read() (quant, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.clone()
}
