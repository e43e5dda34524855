package graphs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestONNX_hasEveryConstant(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	n := 0
	for _, c := range cases {
		m, err := c.ONNX()
		require.NoError(t, err, c.Name)
		if m != nil {
			n++
		}
	}
	assert.Equal(t, len(Models()), n, "models of cases that there are not")
}
