package devicecheck

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// tolerance is how far a result of a type may be from the reference: sums are formed in other orders, and numbers of
// few bits are rounded at other places.
func tolerance(x tensor.Tensor) tensordiff.Tolerance {
	switch {
	case x.Quant != nil:
		return tensordiff.Tolerance{Abs: 1}
	case x.DType == tensor.Float16:
		return tensordiff.Tolerance{Rel: 2e-3, Abs: 2e-3}
	case x.DType == tensor.BFloat16:
		return tensordiff.Tolerance{Rel: 2e-2, Abs: 2e-2}
	}
	return tensordiff.Tolerance{Rel: 1e-5, Abs: 1e-5}
}

// compare holds results against the reference's, or with sizesOnly their types and sizes.
func (c *Check) compare(got []tensor.Tensor, sizesOnly bool, r *Result) {
	r.Outcome = Pass
	for i, want := range c.Want {
		why := differs(got[i], want, sizesOnly, &r.Difference)
		if why == "" {
			continue
		}
		r.Outcome = Wrong
		if r.Why == "" {
			r.Why = fmt.Sprintf("output %d: %s", i, why)
		}
	}
}

// differs says how a result is wrong, "" if it is not, and raises the largest difference.
func differs(got, want tensor.Tensor, sizesOnly bool, most *float64) string {
	if got.DType != want.DType || !slices.Equal(got.Dims, want.Dims) {
		return fmt.Sprintf("it is %v, want %v", got.Type(), want.Type())
	}
	if sizesOnly {
		return ""
	}
	m, _ := tensordiff.Measure(got, want)
	tol := tolerance(want)
	*most = max(*most, min(m.Max, math.MaxFloat64)) // JSON has no infinity
	if want.Quant != nil {
		if m.Max <= tol.Abs {
			return ""
		}
		return fmt.Sprintf("element %d is %g, want %g", m.Worst, m.Got, m.Want)
	}
	return tensordiff.Compare(got, want, tol)
}

// attributes are the fields of an operator that are not zero, but for its bodies.
func attributes(o graph.Op) string {
	v := reflect.ValueOf(o).Elem()
	var set []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && !v.Field(i).IsZero() && f.Type != reflect.TypeFor[*graph.Graph]() {
			set = append(set, fmt.Sprintf("%s=%v", f.Name, v.Field(i).Interface()))
		}
	}
	return strings.Join(set, " ")
}
