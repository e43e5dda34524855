package fault

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumbers_table(t *testing.T) {
	assert.Equal(t, "1 input", Numbers(1, 1, "input"))
	assert.Equal(t, "0 inputs", Numbers(0, 0, "input"))
	assert.Equal(t, "2 outputs", Numbers(2, 2, "output"))
	assert.Equal(t, "0 to 1 inputs", Numbers(0, 1, "input"))
	assert.Equal(t, "at least 1 input", Numbers(1, math.MaxInt32, "input"))
	assert.Equal(t, "at least 2 inputs", Numbers(2, math.MaxInt, "input"))
}
