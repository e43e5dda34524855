package ref

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/tensor"
)

// TestNewTensor_isZeroed: memory that was used before is cleared, that of large tensors in stretches.
func TestNewTensor_isZeroed(t *testing.T) {
	for _, n := range []int64{1000, manyBytes - 1, manyBytes, manyBytes + stretch + 1} {
		for range 3 {
			x := newTensor(tensor.Uint8, n)
			sum := 0
			for i := range x.Data {
				sum |= int(x.Data[i])
				x.Data[i] = 0xff
			}
			assert.Zero(t, sum, n)
			x = tensor.Tensor{}
			runtime.GC()
		}
	}
}
