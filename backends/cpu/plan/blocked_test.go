package plan

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// blockedCase is a product of rows of numbers with weights of codes, of which each block has a scale.
func blockedCase(bits int, rows, block int64, zeros, coarse bool) testCase {
	const depth, cols = 192, 70
	name := fmt.Sprintf("%d bits, %d rows, blocks of %d, zero points %v, coarse %v", bits, rows, block, zeros, coarse)
	return testCase{name, 2, func(m *maker) []graph.Value {
		codes := make([]byte, cols*depth)
		for i := range codes {
			codes[i] = byte(i*7+i/11) & (1<<bits - 1)
		}
		codes[3] = 1<<bits - 1
		in := []graph.Value{m.Const("", tensor.T(tensor.Uint8, cols, depth), codes), m.weights(cols, depth/block)}
		if zeros {
			list := make([]byte, cols*depth/block)
			for i := range list {
				list[i] = byte(i*5) & (1<<bits - 1)
			}
			in = append(in, m.Const("", tensor.T(tensor.Uint8, cols, depth/block), list))
		}
		w := m.Add(&op.Dequantize{Axis: 1, Block: block, To: tensor.Float32}, in...)
		x := m.input(2, rows, depth)
		if rows == 5 { // a row of the second matrix has infinities, one a NaN
			v := run.Floats(m.in[0].Data)
			v[7*depth+3], v[7*depth+9] = float32(math.Inf(1)), float32(math.Inf(1))
			v[8*depth+100] = float32(math.NaN())
		}
		y := m.Add(&op.MatMul{TransposeB: true, Coarse: coarse}, x, w)
		return []graph.Value{m.Add(&op.Mul{}, y, m.Float32(1/float32(int(1)<<bits)))}
	}}
}

// Weights of codes are multiplied as they are; where numbers get digits of 8 bits, three of them are as exact as
// float32.
func TestBuild_blockedWeights(t *testing.T) {
	var cases []testCase
	for _, bits := range []int{4, 8} {
		for _, rows := range []int64{1, 4, 5, 43} {
			cases = append(cases, blockedCase(bits, rows, 32, false, false), blockedCase(bits, rows, 96, true, false),
				blockedCase(bits, rows, 64, rows == 4, true))
		}
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		require.Empty(t, byReference(p))
		digits := (&kernel.BlockDots{Bits: 4, Block: 32, Blocks: 6, Digits: 3}).Fast()
		require.Equal(t, digits, taskOf(p, p.Steps[0]) == "digitsTask")
		most := 2e-6
		if c.name[len(c.name)-4:] == "true" {
			most = 2e-4
		}
		for i := range want {
			near(t, want[i], got[i], most)
		}
	})
}
