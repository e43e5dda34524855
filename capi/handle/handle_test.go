package handle

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type box struct {
	Ref
	n int
}

type other struct{ Ref }

func TestOf_givesTheSameHandleUntilDrop(t *testing.T) {
	b := &box{n: 7}
	h, err := Of(b)
	require.NoError(t, err)
	again, err := Of(b)
	require.NoError(t, err)
	assert.Equal(t, h, again)
	base, size, _ := Window()
	assert.True(t, h >= base && h < base+size && h%granule == 0, "%#x outside %#x+%#x", h, base, size)

	got, err := Hold[box](h)
	require.NoError(t, err)
	assert.Same(t, b, got)
	Unhold(h)
	require.True(t, Drop(b))
	_, err = Hold[box](h)
	assert.ErrorIs(t, err, ErrStale)
	assert.Zero(t, Live(), "%v", LiveByKind())
}

func TestHold_refusesOtherValues(t *testing.T) {
	b := &box{}
	h, err := Of(b)
	require.NoError(t, err)
	defer Drop(b)
	base, size, _ := Window()
	for name, c := range map[string]struct {
		value uintptr
		want  error
	}{
		"zero":            {0, ErrForeign},
		"small":           {7, ErrForeign},
		"unaligned":       {h + 1, ErrForeign},
		"generation zero": {base, ErrForeign},
		"untouched slot":  {h + granule*500000, ErrForeign},
		"other":           {h + granule<<indexBits, ErrStale},
		"before":          {base - granule, ErrForeign},
		"behind":          {base + size, ErrForeign},
		"largest":         {^uintptr(0) &^ (granule - 1), ErrForeign},
	} {
		_, err := Hold[box](c.value)
		assert.ErrorIs(t, err, c.want, name)
	}
	_, err = Hold[other](h)
	assert.ErrorIs(t, err, ErrKind)
	_, err = Close[other](h)
	assert.ErrorIs(t, err, ErrKind)
	_, err = Hold[box](h)
	assert.NoError(t, err, "a refused kind must not leave a hold or a lock")
	Unhold(h)
}

func TestClose_isRefusedWhileHeld(t *testing.T) {
	b := &box{}
	h, err := Of(b)
	require.NoError(t, err)
	_, err = Hold[box](h)
	require.NoError(t, err)
	_, err = Close[box](h)
	assert.ErrorIs(t, err, ErrBusy)
	assert.False(t, Drop(b), "a held object was dropped")
	Unhold(h)

	_, err = Close[box](h)
	require.NoError(t, err)
	_, err = Hold[box](h)
	assert.ErrorIs(t, err, ErrBusy, "a closed object was given out")
	_, err = Close[box](h)
	assert.ErrorIs(t, err, ErrBusy, "closed twice")
	Reopen(h)
	_, err = Hold[box](h)
	require.NoError(t, err)
	Unhold(h)
	_, err = Close[box](h)
	require.NoError(t, err)
	assert.True(t, Drop(b))
	_, err = Close[box](h)
	assert.ErrorIs(t, err, ErrStale)
}

// TestReopen_leavesTheNextObjectInItsSlot: an owner may drop an object while another call is about to destroy it.
func TestReopen_leavesTheNextObjectInItsSlot(t *testing.T) {
	old := &box{}
	h, err := Of(old)
	require.NoError(t, err)
	_, err = Close[box](h)
	require.NoError(t, err)
	require.True(t, Drop(old), "with its owner")
	next := &box{}
	again, err := Of(next)
	require.NoError(t, err)
	defer Drop(next)
	require.NotEqual(t, h, again)
	_, err = Close[box](again)
	require.NoError(t, err)
	Reopen(h)
	_, err = Hold[box](again)
	assert.ErrorIs(t, err, ErrBusy, "the other is still being destroyed")
	Reopen(again)
	_, err = Hold[box](again)
	require.NoError(t, err)
	Unhold(again)
}

func TestLiveByKind_namesTheObjects(t *testing.T) {
	a, b, c := &box{}, &box{}, &other{}
	for _, o := range []Object{a, b, c} {
		_, err := Of(o)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"*handle.box 2", "*handle.other 1"}, LiveByKind())
	for _, o := range []Object{a, b, c} {
		assert.True(t, Drop(o))
	}
	assert.Empty(t, LiveByKind())
}

func TestWindow_roundTrip(t *testing.T) {
	for _, w := range []window{newWindow(1<<40, 64<<30, true), newWindow(1<<40, 4<<30, true),
		newWindow(tagBase, 64<<30, false)} {
		seen := map[uintptr]bool{}
		for _, gen := range []uint32{1, 2, w.genMask} {
			for _, index := range []uint32{0, 1, 1023, 1024, indexMask} {
				h := w.encode(index, gen)
				i, g := w.decode(h)
				assert.Equal(t, [2]uint32{index, gen}, [2]uint32{i, g})
				assert.True(t, w.contains(h) && !seen[h], "%#x", h)
				seen[h] = true
			}
		}
	}
}

// small returns a table of 5000 slots whose generations wrap after 3.
func small() *table { return &table{win: newWindow(1<<40, granule<<indexBits*4, true), size: 5000} }

func TestTable_retiresASlotWhoseGenerationWrapped(t *testing.T) {
	tab := small()
	seen := map[uintptr]bool{}
	for range 30 {
		b := &box{}
		h, err := tab.of(b)
		require.NoError(t, err)
		require.False(t, seen[h], "%#x was given out twice", h)
		seen[h] = true
		require.True(t, tab.drop(b))
	}
	assert.Len(t, tab.retired, 10)
}

func TestTable_usesRetiredSlotsOnlyAtTheEnd(t *testing.T) {
	tab := small()
	var all []*box
	for range 3 {
		b := &box{}
		_, err := tab.of(b)
		require.NoError(t, err)
		require.True(t, tab.drop(b))
	}
	require.Equal(t, []uint32{0}, tab.retired)
	for range 4999 {
		b := &box{}
		_, err := tab.of(b)
		require.NoError(t, err)
		all = append(all, b)
	}
	require.Len(t, tab.retired, 1, "a retired slot was used while others were free")
	last := &box{}
	h, err := tab.of(last)
	require.NoError(t, err)
	index, gen := tab.win.decode(h)
	assert.Equal(t, [2]uint32{0, 1}, [2]uint32{index, gen})
	_, err = tab.of(&box{})
	assert.ErrorIs(t, err, ErrFull)
	assert.True(t, tab.drop(all[5]))
	_, err = tab.of(&box{})
	assert.NoError(t, err)
}

// Threads that make, use and destroy the same few objects: each object is destroyed once, never while it is used.
func TestTable_concurrentUseAndDestruction(t *testing.T) {
	const objects, workers, rounds = 8, 8, 3000
	var mu sync.Mutex
	handles := make([]uintptr, objects)
	made, dropped := 0, 0
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				k := (w*7 + i*3) % objects
				mu.Lock()
				h := handles[k]
				mu.Unlock()
				switch i % 3 {
				case 0:
					if o, err := Hold[box](h); err == nil {
						assert.Equal(t, k, o.n)
						Unhold(h)
					}
				case 1:
					if o, err := Close[box](h); err == nil {
						assert.Equal(t, k, o.n)
						assert.True(t, Drop(o))
						mu.Lock()
						dropped++
						if handles[k] == h {
							handles[k] = 0
						}
						mu.Unlock()
					}
				default:
					mu.Lock()
					if handles[k] == 0 {
						fresh, err := Of(&box{n: k})
						assert.NoError(t, err)
						handles[k] = fresh
						made++
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for _, h := range handles {
		if h != 0 {
			o, err := Close[box](h)
			require.NoError(t, err)
			require.True(t, Drop(o))
			dropped++
		}
	}
	assert.Equal(t, made, dropped)
	assert.Greater(t, made, objects)
	assert.Zero(t, Live())
}

func BenchmarkHold(b *testing.B) {
	o := &box{}
	h, err := Of(o)
	require.NoError(b, err)
	defer Drop(o)
	for b.Loop() {
		if _, err := Hold[box](h); err != nil {
			b.Fatal(err)
		}
		Unhold(h)
	}
}
