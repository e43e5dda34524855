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
	mu        sync.Mutex
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
	_, err := t.Get()
	return err
}

func (t *WindowTable) bytes() int64 {
	return Saturated(4, t.Win.Kernel[0], t.Win.Kernel[1], t.Win.Kernel[2], t.Batch, t.Win.Out[0], t.Win.Out[1],
		t.Win.Out[2])
}

// Get returns the table; of a nil WindowTable nil. Kind fault.Memory.
func (t *WindowTable) Get() (*kernel.Indirection, error) {
	if t == nil {
		return nil, nil
	}
	if x := t.made.Load(); x != nil {
		return x, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.made.Load(); x != nil {
		return x, nil
	}
	if err := mem.Admit(t.bytes()); err != nil {
		return nil, fault.Wrap(err, "table of positions")
	}
	x, err := kernel.NewIndirection(t.Win, t.Batch, t.ld)
	if err != nil {
		return nil, fault.As(fault.Unsupported, err, "")
	}
	t.made.Store(x)
	return x, nil
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
