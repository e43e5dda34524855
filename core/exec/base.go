package exec

import (
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Base is the part that every device.Execution of this process has, whatever it computes: the life of its runs, what is
// bound to its ports, its statistics. An execution embeds it and adds Start, by Task.Start, and Release, by Close; the
// rest of the interface is here. Bound and Counts are touched inside Task.Do or by the run under way only.
type Base struct {
	Task   Task
	Bound  *Bindings
	Counts device.Stats
	// Result returns output i of the last run that succeeded, without data when it was bound; done is false when there is
	// no such run. It is called inside Task.Do.
	Result func(i int) (t tensor.Type, data []byte, done bool)
}

// SetShape implements device.Execution.
func (b *Base) SetShape(in int, dims []int64) error {
	return b.Task.Do(func() error { return b.Bound.SetShape(in, dims) })
}

// BindInput implements device.Execution.
func (b *Base) BindInput(i int, v mem.View) error {
	return b.Task.Do(func() error { return b.Bound.BindInput(i, v) })
}

// BindOutput implements device.Execution.
func (b *Base) BindOutput(i int, v mem.View) error {
	return b.Task.Do(func() error { return b.Bound.BindOutput(i, v) })
}

// Cancel implements device.Execution.
func (b *Base) Cancel() { b.Task.Cancel() }

// OutputType implements device.Execution.
func (b *Base) OutputType(i int) (t tensor.Type, err error) {
	err = b.Task.Do(func() error {
		if err := CheckIndex("output", i, len(b.Bound.Out)); err != nil {
			return err
		}
		var done bool
		if t, _, done = b.Result(i); !done {
			t = b.Bound.Out[i].Port.Type
		}
		return nil
	})
	return t, err
}

// OutputData implements device.Execution.
func (b *Base) OutputData(i int) (data []byte, err error) {
	err = b.Task.Do(func() error {
		if err := CheckIndex("output", i, len(b.Bound.Out)); err != nil {
			return err
		}
		t, result, done := b.Result(i)
		if n, _ := t.ByteSize(); !done || b.Bound.Out[i].View.Buf != nil || result == nil && n > 0 {
			return fault.New(fault.State, "output %d: bound, or no run has succeeded", i)
		}
		data = result
		return nil
	})
	return data, err
}

// Stats implements device.Execution; after Release it returns the zero Stats.
func (b *Base) Stats() (s device.Stats) {
	_ = b.Task.Do(func() error {
		s = b.Counts
		s.Nodes = slices.Clone(s.Nodes)
		return nil
	})
	return s
}

// Close is Task.Close, and releases the bound memory.
func (b *Base) Close() bool {
	if !b.Task.Close() {
		return false
	}
	b.Bound.Release()
	return true
}
