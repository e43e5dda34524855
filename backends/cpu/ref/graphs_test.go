package ref

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/graphs"
)

// The suite of random graphs.
func TestRun_randomGraphs(t *testing.T) {
	cases, err := graphs.Cases()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(cases), 300)
	for _, c := range cases {
		got, err := Run(context.Background(), c.Graph, c.In)
		if assert.NoError(t, err, c.Name) {
			assert.NoError(t, c.Compare(got), c.Name)
		}
	}
}
