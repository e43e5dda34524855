package operations

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// Every element of every expected value counts: one that is off by more than the tolerance fails the case.
func TestCompare_findsEachElement(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	for _, c := range cases {
		if c.Fails {
			continue
		}
		for k := range c.Out {
			o := &c.Out[k]
			if o.Ignore || o.Shares != nil {
				continue
			}
			d := model.Types[o.Type].DType
			require.NoError(t, c.compare(o, o.Bytes(), false), c.ID())
			for i, v := range o.Data {
				wrong := slices.Clone(o.Data)
				off := max(1, v.Real, -v.Real) * c.tolerance(o, d, false) * 2.5
				switch {
				case d.IsFloat():
					wrong[i] = numbers.Real(v.Real + off)
				case v.Real > 0:
					wrong[i] = numbers.Real(v.Real - 1 - c.tolerance(o, d, false))
				default:
					wrong[i] = numbers.Real(v.Real + 1 + c.tolerance(o, d, false))
				}
				if wrong[i].Real < 0 && o.Type == "Q8" { // 1 - 2
					wrong[i] = numbers.Real(v.Real + 2)
				}
				assert.Error(t, c.compare(o, numbers.Encode(wrong, d), false), "%s: output %d: element %d", c.ID(), k, i)
			}
		}
	}
}
