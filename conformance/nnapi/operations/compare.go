package operations

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/core/tensor"
)

// compare judges the bytes of an output. relaxed says that float32 may be computed in float16.
func (c *Case) compare(o *model.Operand, got []byte, relaxed bool) error {
	switch {
	case o.Ignore:
		return nil
	case o.Shares != nil:
		values, err := numbers.Decode(got, model.Types[o.Type].DType, o.Count())
		if err != nil {
			return err
		}
		return compareShares(o, values)
	}
	return o.Compare(got, c.tolerance(o, model.Types[o.Type].DType, relaxed))
}

// tolerance of floats is as the constants above say, that of codes in steps.
func (c *Case) tolerance(o *model.Operand, d tensor.DType, relaxed bool) float64 {
	switch {
	case d == tensor.Float32 && relaxed:
		return max(model.Float16Tolerance, c.Tolerance)
	case d == tensor.Float16:
		return max(o.Tolerance(), c.Tolerance)
	case d == tensor.Float32 && c.Tolerance != 0:
		return c.Tolerance
	case c.Exact && o.Scale != 0:
		return 0
	}
	return o.Tolerance()
}

// compareShares judges draws by how often each number came.
func compareShares(o *model.Operand, values []numbers.Number) error {
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
