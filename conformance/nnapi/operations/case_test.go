package operations

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/internal/leak"
)

// fewest is the number of counting cases that every operation must have.
const fewest = 8

func TestCases_coverEveryOperation(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, c := range cases {
		assert.False(t, ids[c.ID()], "two cases %s", c.ID())
		ids[c.ID()] = true
		assert.Contains(t, nnapi.Operations, c.Op)
		for _, o := range append(c.In, c.Out...) {
			assert.Contains(t, types, o.Type, c.ID())
		}
	}
	counts := Counts(cases)
	for op := range nnapi.Operations {
		assert.GreaterOrEqual(t, counts[op], fewest, "%s", op)
	}
}

func TestMain(m *testing.M) { os.Exit(leak.Run(m, nil)) }
