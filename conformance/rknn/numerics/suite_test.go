package numerics

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/rknn"
)

func TestSuite_namesAreDistinct(t *testing.T) {
	items, err := Suite().Cases("")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, c := range items {
		assert.False(t, seen[c.ID], "two cases %s", c.ID)
		seen[c.ID] = true
	}
}

func TestHalfOf_knownNumbers(t *testing.T) {
	for v, want := range map[float64]float64{2049: 2048, 2051: 2052, 65519: 65504, 65520: math.Inf(1), -1e9: math.Inf(-1),
		0.1: 0.0999755859375, 1.0 / (1 << 25): 0, 1.5 / (1 << 24): 2.0 / (1 << 24)} {
		assert.Equal(t, want, halfOf(v), "%g", v)
		if !math.IsInf(want, 0) {
			assert.Equal(t, want, halfNumber(rknn.Half(float32(want))), "%g", v)
		}
	}
	assert.Equal(t, 1.0, bfloatOf(1.00390625), "of two the even one")
	assert.Equal(t, 1.015625, bfloatOf(1.01171875))
}

func TestCodes_roundAndSaturate(t *testing.T) {
	q := &codes{rknn.ONNXInt8, 0.5, -10}
	for v, want := range map[float32]float64{0.25: -10, 0.75: -8, 1.25: -8, -0.25: -10, 1e9: 127, -1e9: -128} {
		assert.Equal(t, want, q.code(v), "%g", v)
	}
	assert.Equal(t, -10.0, q.code(float32(math.NaN())))
}
