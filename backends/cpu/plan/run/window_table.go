package run

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// WindowTable is the table of positions of a window, shared by all states. Build makes it, unless it is large: then the
// first run does.
type WindowTable struct {
	Win       kernel.Window
	Batch     int
	Buf, Cols int // the buffer of the images, and the values of its rows
	ld        int // the distance between rows, when memory has placed them
	made      atomic.Pointer[kernel.Indirection]
}

// Place takes the distance between rows from a plan whose buffers have places, and makes the table if it is small. Kind
// fault.Unsupported when there can be none.
func (t *WindowTable) Place(p *Plan, b *Budget) error {
	t.ld = p.rowLength(t.Buf, t.Cols)
	if err := kernel.CheckIndirection(t.Win, t.Batch, t.ld); err != nil {
		return fault.As(fault.Unsupported, err, "convolution")
	}
	if !b.Allows(t.bytes()) {
		return nil
	}
	b.Tables -= t.bytes()
	x, err := kernel.NewIndirection(t.Win, t.Batch, t.ld)
	t.made.Store(x)
	return err
}

func (t *WindowTable) bytes() int64 {
	return Saturated(4, t.Win.Kernel[0], t.Win.Kernel[1], t.Win.Kernel[2], t.Batch, t.Win.Out[0], t.Win.Out[1],
		t.Win.Out[2])
}

// Get returns the table; of a nil WindowTable nil. The first run makes it, in chunks; one that is stopped meanwhile
// makes none. Kind fault.Memory.
func (t *WindowTable) Get(s *State) (*kernel.Indirection, error) {
	if t == nil {
		return nil, nil
	}
	if x := t.made.Load(); x != nil {
		return x, nil
	}
	if err := mem.Admit(t.bytes()); err != nil {
		return nil, fault.Wrap(err, "table of positions")
	}
	x, err := kernel.EmptyIndirection(t.Win, t.Batch, t.ld)
	if err != nil {
		return nil, fault.As(fault.Unsupported, err, "")
	}
	f := &tableFill{table: t, to: x, per: max(1, tableBlock/max(1, x.Rows())), last: -1}
	s.Do((x.Taps()+f.per-1)/f.per, f)
	x.Extend(f.last, f.padded)
	if !t.made.CompareAndSwap(nil, x) { // another run was faster
		return t.made.Load(), nil
	}
	return x, nil
}

// tableBlock is how many offsets a chunk computes.
const tableBlock = 256 << 10

// tableFill computes a table, some taps in each chunk.
type tableFill struct {
	table *WindowTable
	to    *kernel.Indirection
	per   int // taps of a chunk

	mu     sync.Mutex
	last   int
	padded bool
}

// Chunk computes some taps.
func (f *tableFill) Chunk(i, _ int) {
	t := f.table
	last, padded := f.to.Fill(&t.Win, t.Batch, t.ld, i*f.per, min((i+1)*f.per, f.to.Taps()))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.padded = max(f.last, last), f.padded || padded
}

// Saturated is the product of numbers that are not negative, at most math.MaxInt64.
func Saturated(factors ...int) int64 {
	n := int64(1)
	for _, f := range factors {
		if f != 0 && n > math.MaxInt64/int64(f) {
			return math.MaxInt64
		}
		n *= int64(f)
	}
	return n
}
