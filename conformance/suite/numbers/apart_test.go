package numbers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestApart(t *testing.T) {
	var a Apart
	assert.Equal(t, -1, a.Wrong())
	a.Add(-9, -9, false)
	assert.Equal(t, -1, a.Wrong())
	a.Add(3, 4, true)
	a.Add(5, 5.5, false)
	a.Add(1, -1, true)
	a.Add(math.Inf(1), math.Inf(1), false)
	assert.Equal(t, 1, a.Wrong())
	assert.Equal(t, "element 1 of 5 is 3, want 4; wrong are 2, by up to 2, the largest wanted is 9", a.String())
}

// TestApart_noNumber: a difference that is no number is larger than all.
func TestApart_noNumber(t *testing.T) {
	var a Apart
	a.Add(math.NaN(), 1, true)
	a.Add(7, 1, true)
	assert.Contains(t, a.String(), "by up to NaN,")
}
