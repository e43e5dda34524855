package plan

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// windowTable is the table of positions of a window, shared by all states. Build makes it, unless it is large: then the
// first run does.
type windowTable struct {
	win       kernel.Window
	batch     int
	buf, cols int // the buffer of the images, and the values of its rows
	ld        int // the distance between rows, when memory has placed them
	made      atomic.Pointer[kernel.Indirection]
	mu        sync.Mutex
}

// place takes the distance between rows from a plan whose buffers have places, and makes the table if it is small. Kind
// fault.Unsupported when there can be none.
func (t *windowTable) place(p *Plan, b *budget) error {
	t.ld = p.rowLength(t.buf, t.cols)
	if err := kernel.CheckIndirection(t.win, t.batch, t.ld); err != nil {
		return fault.As(fault.Unsupported, err, "convolution")
	}
	if !b.allows(t.bytes()) {
		return nil
	}
	b.tables -= t.bytes()
	_, err := t.get()
	return err
}

func (t *windowTable) bytes() int64 {
	return saturated(4, t.win.Kernel[0], t.win.Kernel[1], t.win.Kernel[2], t.batch, t.win.Out[0], t.win.Out[1],
		t.win.Out[2])
}

// get returns the table; of a nil windowTable nil. Kind fault.Memory.
func (t *windowTable) get() (*kernel.Indirection, error) {
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
	x, err := kernel.NewIndirection(t.win, t.batch, t.ld)
	if err != nil {
		return nil, fault.As(fault.Unsupported, err, "")
	}
	t.made.Store(x)
	return x, nil
}

// saturated is the product of numbers that are not negative, at most math.MaxInt64.
func saturated(factors ...int) int64 {
	n := int64(1)
	for _, f := range factors {
		if f != 0 && n > math.MaxInt64/int64(f) {
			return math.MaxInt64
		}
		n *= int64(f)
	}
	return n
}
