package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Windows of every size that planes join in another way, with each stride of lines and of their elements.
func TestBuild_planesEqualReference(t *testing.T) {
	var cases []testCase
	for _, strides := range [][]int64{{1, 1}, {1, 2}, {2, 1}, {2, 2}} {
		cases = append(cases, testCase{fmt.Sprint(strides), 0, func(m *maker) (out []graph.Value) {
			x := m.input(2, 5, 12, 27)
			for high := range int64(7) {
				for wide := range int64(9) {
					out = append(out, m.Add(&op.MaxPool{Kernel: []int64{high + 1, wide + 1}, Strides: strides,
						Pads: []int64{0, wide / 2, high / 2, wide / 3}}, x))
				}
			}
			return out
		}})
	}
	equalsReference(t, cases, func(t *testing.T, _ testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			assert.True(t, assert.ObjectsAreEqual(want[k], got[k]), "output %d", k)
		}
	})
}
