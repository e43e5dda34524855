package mem

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestWeights_packsOnce(t *testing.T) {
	w := NewWeights()
	defer w.Release()
	data := bytes.Repeat([]byte{1, 2}, 100)
	h := tensor.HashOf(data)
	_, err := w.Get(h, "", nil)
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	kept, err := w.Add(h, data)
	require.NoError(t, err)
	data[0] = 99
	assert.EqualValues(t, 1, kept[0], "the store has its own copy")

	failure := errors.New("no memory for the pack")
	_, err = w.Get(h, "double", func([]byte) ([]byte, error) { return nil, failure })
	assert.ErrorIs(t, err, failure)

	var packs atomic.Int32
	var wg sync.WaitGroup
	got := make([][]byte, 8)
	for i := range got {
		wg.Go(func() {
			got[i], _ = w.Get(h, "double", func(o []byte) ([]byte, error) {
				packs.Add(1)
				return append(bytes.Clone(o), o...), nil
			})
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, packs.Load())
	for _, g := range got {
		assert.Len(t, g, 400)
		assert.Same(t, &got[0][0], &g[0])
	}
	assert.EqualValues(t, 600, w.Bytes())
}

func TestWeights_panicInPackDoesNotBlock(t *testing.T) {
	w := NewWeights()
	defer w.Release()
	h := tensor.HashOf(nil)
	_, err := w.Add(h, nil)
	require.NoError(t, err)
	assert.Panics(t, func() { _, _ = w.Get(h, "x", func([]byte) ([]byte, error) { panic("pack") }) })
	_, err = w.Get(h, "x", func(o []byte) ([]byte, error) { return []byte{1}, nil })
	assert.NoError(t, err)
}

func TestWeights_manySizes(t *testing.T) {
	w := NewWeights()
	w.Retain()
	var kept [][]byte
	for n := range 300 {
		data := bytes.Repeat([]byte{byte(n)}, n*977)
		d, err := w.Add(tensor.HashOf(data), data)
		require.NoError(t, err)
		kept = append(kept, d)
	}
	for n, d := range kept {
		require.Equal(t, n*977, len(d))
		require.Equal(t, n*977, bytes.Count(d, []byte{byte(n)}))
	}
	w.Release()
	w.Release()
	assert.Panics(t, w.Release)
}

func TestWeights_makeFillsInPlace(t *testing.T) {
	for _, n := range []int64{0, 10, slabSize/4 + 1} {
		w := NewWeights()
		fill := func(dst []byte) error {
			for i := range dst {
				dst[i] += byte(i + 1)
			}
			return nil
		}
		h, data, err := w.Make(n, fill)
		require.NoError(t, err)
		want := make([]byte, n)
		require.NoError(t, fill(want))
		assert.Equal(t, tensor.HashOf(want), h)
		assert.True(t, bytes.Equal(want, data))
		_, again, err := w.Make(n, fill)
		require.NoError(t, err)
		if n > 0 {
			assert.Same(t, &data[0], &again[0], "%d bytes: kept once", n)
		}
		assert.Equal(t, n, w.Bytes())
		failure := errors.New("no data")
		_, _, err = w.Make(n, func([]byte) error { return failure })
		assert.ErrorIs(t, err, failure)
		w.Release()
	}
	w := NewWeights()
	defer w.Release()
	_, _, err := w.Make(-1, func([]byte) error { return nil })
	assert.Equal(t, fault.Argument, fault.KindOf(err))
}

func TestWeights_dropFreesLargeOriginals(t *testing.T) {
	w := NewWeights()
	defer w.Release()
	_, before := Live()
	big, small := bytes.Repeat([]byte{7}, slabSize), []byte{1, 2, 3}
	h, hs := tensor.HashOf(big), tensor.HashOf(small)
	_, err := w.Add(h, big)
	require.NoError(t, err)
	_, err = w.Add(hs, small)
	require.NoError(t, err)
	_, with := Live()
	assert.True(t, w.Drop(h))
	_, after := Live()
	assert.EqualValues(t, slabSize, with-after)
	assert.GreaterOrEqual(t, after, before)
	assert.False(t, w.Drop(h), "gone")
	_, err = w.Get(h, "", nil)
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	assert.EqualValues(t, 3, w.Bytes())
	if !Guarded() {
		assert.False(t, w.Drop(hs), "small ones share memory")
	}
	again, err := w.Add(h, big)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(big, again))
}
