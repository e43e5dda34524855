package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// The table of a large image is made by the first run, within the memory that there is.
func TestWindowTable_isLeftToTheRun(t *testing.T) {
	win := kernel.Window{In: [3]int{1, 1 << 13, 1 << 13}, Out: [3]int{1, 1 << 13, 1 << 13}, Kernel: [3]int{1, 5, 5},
		Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, 2, 2}}
	const tables = 64 << 20
	p := &Plan{Buffers: []Buffer{{}}}
	b := Budget{Tables: tables}
	table := &WindowTable{Win: win, Batch: 1, Cols: 1}
	require.NoError(t, table.Place(p, &b))
	assert.Nil(t, table.made.Load())
	mem.SetLimit(1 << 30)
	defer mem.SetLimit(0)
	_, err := table.Get(&State{})
	assert.Equal(t, fault.Memory, fault.KindOf(err))

	win.In, win.Out = [3]int{1, 32, 32}, [3]int{1, 32, 32}
	table = &WindowTable{Win: win, Batch: 2, Cols: 16}
	require.NoError(t, table.Place(p, &b))
	assert.NotNil(t, table.made.Load())
	assert.EqualValues(t, tables-4*25*2*32*32, b.Tables)
	table = &WindowTable{Win: win, Batch: 1 << 20, Cols: 1 << 20}
	assert.Equal(t, fault.Unsupported, fault.KindOf(table.Place(p, &b)))
}

// A run makes the table that Build would have made; one that is stopped leaves none.
func TestWindowTable_ofARun(t *testing.T) {
	win := kernel.Window{In: [3]int{1, 9, 7}, Out: [3]int{1, 9, 7}, Kernel: [3]int{1, 600, 60}, Stride: [3]int{1, 1, 1},
		Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, 2, 2}}
	want, err := kernel.NewIndirection(win, 1, 3)
	require.NoError(t, err)
	table := &WindowTable{Win: win, Batch: 1, ld: 3}

	workers := pool.New(2)
	defer workers.Close()
	ctx, cancel := context.WithCancel(context.Background())
	r := workers.NewRun(0, nil)
	require.NoError(t, r.Begin(ctx))
	cancel()
	assert.Panics(t, func() { _, _ = table.Get(&State{run: r, Threads: 2}) })
	assert.ErrorIs(t, r.Cut(), context.Canceled)
	assert.Nil(t, table.made.Load())
	r.End()
	r.Release()

	got, err := table.Get(&State{})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	again, err := table.Get(&State{})
	require.NoError(t, err)
	assert.Same(t, got, again)
}
