package cpu

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// square is a product of matrices of n rows and columns, the first of ones, and its result: sums of columns of small
// numbers.
func square(n, first int) (p *matrix.Product, want []byte) {
	of := func(t tensor.DType) matrix.Operand {
		o := matrix.Operand{Type: t, Rows: n, Columns: n, Tiling: matrix.Tiling{Outer: n, Inner: n}}
		o.Data = make([]byte, o.Bytes())
		return o
	}
	p = &matrix.Product{A: of(tensor.Int8), B: of(tensor.Int8), C: of(tensor.Int32), ScaleA: 1, ScaleC: 1}
	sums := make([]int32, n)
	for i := range p.B.Data {
		p.A.Data[i], p.B.Data[i] = 1, byte((i*7+first)%11)
		sums[i/n] += int32(p.B.Data[i])
	}
	for range n {
		want = append(want, mem.Bytes(sums)...)
	}
	return p, want
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
			p, want := square(160, i)
			for end := time.Now().Add(5 * time.Second); len(slept) == 0 && time.Now().Before(end); {
				if w.run.Sleeps() {
					select {
					case slept <- struct{}{}:
					default:
					}
				}
				clear(p.C.Data)
				assert.NoError(t, w.Multiply(t.Context(), p))
				assert.True(t, bytes.Equal(want, p.C.Data), "product %d", i)
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
