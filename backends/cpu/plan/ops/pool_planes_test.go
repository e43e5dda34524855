package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

// A plane is one chunk, where a run cannot be stopped: large ones are pooled by parts of rows in NHWC.
func TestPlanesOf_leavesLargePlanes(t *testing.T) {
	for size, planar := range map[int]bool{56: true, 640: true, 4096: false} {
		k := kernel.Pooling{C: 3, Batch: 1, Max: true, Win: kernel.Window{In: [3]int{1, size, size},
			Kernel: [3]int{1, 5, 5}, Out: [3]int{1, size, size}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1},
			Pad: [3]int{0, 2, 2}}}
		assert.Equal(t, planar, planesOf(&k) != nil, "%d", size)
	}
}
