package operations

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/core/tensor"
)

// Tolerances of floats, relative to the expected value, or absolute where that is below 1.
const (
	float32Tolerance = 1e-5
	float16Tolerance = 5.0 / (1 << 10) // also of float32 that a library may compute in float16
)

// compare judges the bytes of an output. relaxed says that float32 may be computed in float16.
func (c *Case) compare(o *Operand, got []byte, relaxed bool) error {
	if o.Ignore {
		return nil
	}
	d := types[o.Type].dtype
	values, err := numbers.Decode(got, d, o.count())
	if err != nil {
		return err
	}
	if o.Shares != nil {
		return o.compareShares(values)
	}
	if len(o.Data) != len(values) {
		return fmt.Errorf("the case has %d elements, want %d", len(o.Data), len(values))
	}
	tolerance := c.tolerance(o, d, relaxed)
	for i, want := range o.Data {
		g, w := values[i].Real, want.Real
		if d.IsFloat() {
			if g == w || math.Abs(g-w) <= tolerance*math.Max(1, math.Abs(w)) {
				continue
			}
		} else if math.Abs(g-w) <= tolerance {
			continue
		}
		return fmt.Errorf("element %d: want %v, got %v", i, want, values[i])
	}
	return nil
}

// tolerance of floats is as the constants above say, that of codes in steps.
func (c *Case) tolerance(o *Operand, d tensor.DType, relaxed bool) float64 {
	switch {
	case d == tensor.Float16 || d == tensor.Float32 && relaxed:
		return max(float16Tolerance, c.Tolerance)
	case d == tensor.Float32 && c.Tolerance != 0:
		return c.Tolerance
	case d == tensor.Float32:
		return float32Tolerance
	case o.Scale != 0 && !c.Exact:
		return 1
	}
	return 0
}

// compareShares judges draws by how often each number came.
func (o *Operand) compareShares(values []numbers.Number) error {
	n := len(values) / len(o.Shares)
	for row, shares := range o.Shares {
		count := make([]float64, len(shares))
		for i, v := range values[row*n : (row+1)*n] {
			if v.Real < 0 || int(v.Real) >= len(shares) {
				return fmt.Errorf("element %d: %v is none of %d numbers", row*n+i, v, len(shares))
			}
			count[int(v.Real)]++
		}
		for k, want := range shares {
			if got := count[k] / float64(n); math.Abs(got-want) > o.Within {
				return fmt.Errorf("row %d: want a share of %v for %d, got %v", row, want, k, got)
			}
		}
	}
	return nil
}
