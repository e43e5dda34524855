package driver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
)

// A free lane is not entered for a run that is canceled already: select chooses among what is ready by chance.
func TestLane_canceledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	life, lane := NewLife("npu", 0, nil), NewLane()
	for range 100 {
		_, err := lane.Enter(ctx, life)
		require.ErrorIs(t, err, context.Canceled)
	}
	leave, err := lane.Enter(context.Background(), life)
	require.NoError(t, err)
	leave()
	life.End("for the test")
	_, err = lane.Enter(context.Background(), life)
	require.ErrorIs(t, err, device.ErrDied)
}
