package devices

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestList_hasTheCPU(t *testing.T) {
	for range 2 {
		list, err := List()
		require.NoError(t, err)
		require.NotEmpty(t, list)
		assert.Equal(t, "cpu", list[0].Info().ID)
	}
}
