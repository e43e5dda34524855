package ref

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// brokenTrait compares what an operator's traits say of its results with the results; empty: it is so.
func brokenTrait(o graph.Op, in, out []tensor.Tensor) string {
	tr := graph.TraitsOf(o)
	for i, y := range out {
		if tr.Moves {
			if e := strange(in, y); e != nil {
				return fmt.Sprintf("moves, but output %d has the element % x, which is of no input, no zero and no size", i, e)
			}
		}
		below := belowZero(y)
		switch {
		case !below:
		case tr.Sign == graph.NonNegative:
			return fmt.Sprintf("output %d has an element below zero", i)
		case tr.Sign == graph.NonNegativeIfFirst && len(in) > 0 && plainFloat(in[0]) && !belowZero(in[0]):
			return fmt.Sprintf("output %d has an element below zero, input 0 has none", i)
		case tr.Sign == graph.NonNegativeIfAll && !slices.ContainsFunc(in, func(x tensor.Tensor) bool {
			return !plainFloat(x) || belowZero(x)
		}):
			return fmt.Sprintf("output %d has an element below zero, no input has", i)
		}
	}
	return ""
}

func plainFloat(x tensor.Tensor) bool { return x.Quant == nil && x.DType.IsFloat() }

func belowZero(x tensor.Tensor) bool {
	if !plainFloat(x) {
		return false
	}
	for i := range x.Count() {
		if tensor.FloatAt(x.DType, x.Data, i) < 0 {
			return true
		}
	}
	return false
}

// strange returns an element of y that is in no input, unless it is zero or could be a size; nil when there is none. A
// result in another quantization than its operand's is not looked at, nor are elements of less than a byte.
func strange(in []tensor.Tensor, y tensor.Tensor) []byte {
	size := y.DType.Bits() / 8
	if y.Quant != nil || size == 0 || y.DType.IsInt() && y.Count() <= 64 {
		return nil
	}
	known := map[string]bool{string(make([]byte, size)): true}
	for _, x := range in {
		if x.Absent() || x.Quant != nil || x.DType != y.DType {
			continue
		}
		for e := range slices.Chunk(x.Data, size) {
			known[string(e)] = true
		}
	}
	for e := range slices.Chunk(y.Data, size) {
		if !known[string(e)] {
			return e
		}
	}
	return nil
}

// TestTraits_hold computes the vectors of movement, whose operators move elements, and signs of numbers of all sizes.
func TestTraits_hold(t *testing.T) {
	seen := map[string]bool{}
	for i, c := range readMoves(t, "testdata/movement/movement.json") {
		if c.Fail != "" {
			continue
		}
		in := make([]tensor.Tensor, len(c.In))
		for k, v := range c.In {
			in[k] = v.tensor(t, tensor.Invalid)
		}
		o := c.op(t)
		out, err := Compute(o, in, make([]tensor.Type, c.outputs()))
		require.NoError(t, err, c.name(i))
		require.Empty(t, brokenTrait(o, in, out), c.name(i))
		seen[c.Op] = seen[c.Op] || graph.TraitsOf(o).Moves
	}
	for _, name := range []string{"concat", "gather", "pad", "reshape", "slice", "split", "tile", "transpose"} {
		assert.True(t, seen[name], "%s moves elements, and there is a vector of it", name)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := floats(tensor.Float32, []float64{-3e38, -1, -1e-45, 0, 1e-45, 1, 3e38, float64(nan), float64(inf), -float64(inf)})
	signed := 0
	for _, name := range graph.OpNames() {
		o, _ := graph.NewOp(name)
		if graph.TraitsOf(o).Sign != graph.NonNegative {
			continue
		}
		out, err := Compute(o, []tensor.Tensor{x}, make([]tensor.Type, 1))
		require.NoError(t, err, name)
		require.Empty(t, brokenTrait(o, []tensor.Tensor{x}, out), name)
		signed++
	}
	assert.GreaterOrEqual(t, signed, 8)
}

// liar says what does not hold.
type liar struct {
	op.Neg
	traits graph.Traits
}

func (l *liar) AdjustTraits(graph.Traits) graph.Traits { return l.traits }

func TestBrokenTrait_isFound(t *testing.T) {
	x, y := floats(tensor.Float32, []float64{1, 2}), floats(tensor.Float32, []float64{-1, -2})
	for _, tr := range []graph.Traits{{Moves: true}, {Sign: graph.NonNegative}, {Sign: graph.NonNegativeIfFirst},
		{Sign: graph.NonNegativeIfAll}} {
		assert.NotEmpty(t, brokenTrait(&liar{traits: tr}, []tensor.Tensor{x}, []tensor.Tensor{y}), "%+v", tr)
	}
	assert.Empty(t, brokenTrait(&op.Neg{}, []tensor.Tensor{x}, []tensor.Tensor{y}))
}
