package cpu

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/matmul"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/tensor"
)

// square is a product of matrices of n rows and columns whose elements are small numbers.
func square(n, first int) *matrix.Product {
	of := func(t tensor.DType) matrix.Operand {
		o := matrix.Operand{Type: t, Rows: n, Columns: n, Tiling: matrix.Tiling{Outer: n, Inner: n}}
		o.Data = make([]byte, o.Bytes())
		for i := range o.Data {
			o.Data[i] = byte((i*7 + first) % 11)
		}
		return o
	}
	return &matrix.Product{A: of(tensor.Int8), B: of(tensor.Int8), C: of(tensor.Int32), ScaleA: 1, ScaleC: 1}
}

// TestWorkers_manyAtOnce: products that wait for each other are right, each panics where it was asked for, and some
// leave their callers.
func TestWorkers_manyAtOnce(t *testing.T) {
	d := newDevice(t, Config{Threads: 1})
	slept := make(chan struct{}, 1)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			w := d.Workers(device.PriorityDefault)
			defer w.Release()
			p := square(160, i)
			want := square(160, i)
			matmul.Reference(want)
			for end := time.Now().Add(5 * time.Second); len(slept) == 0 && time.Now().Before(end); {
				if w.run.Sleeps() {
					select {
					case slept <- struct{}{}:
					default:
					}
				}
				clear(p.C.Data)
				assert.NoError(t, w.Multiply(t.Context(), p))
				assert.True(t, bytes.Equal(want.C.Data, p.C.Data), "product %d", i)
			}
			p.B.Rows++
			assert.Panics(t, func() { _ = w.Multiply(t.Context(), p) })
		})
	}
	wg.Wait()
	assert.Len(t, slept, 1)
}

func TestApart(t *testing.T) {
	gone := errors.New("gone")
	assert.Equal(t, gone, apart(func() error { return gone }))
	require.PanicsWithValue(t, 7, func() { _ = apart(func() error { panic(7) }) })
}
