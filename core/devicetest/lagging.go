package devicetest

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// lagging is memory that the host can map but that is not coherent: what one side writes reaches the other by Sync.
type lagging struct {
	refs      atomic.Int64
	mu        sync.Mutex
	near, far []byte // as the host sees it, and as it is
}

func newLagging(n int) *lagging {
	l := &lagging{near: bytes.Repeat([]byte{canary}, n), far: bytes.Repeat([]byte{canary}, n)}
	l.refs.Store(1)
	return l
}

func (l *lagging) Size() int64            { return int64(len(l.far)) }
func (l *lagging) Map() ([]byte, error)   { return l.near, nil }
func (l *lagging) FD() (int, int64, bool) { return -1, 0, false }
func (l *lagging) Retain()                { l.refs.Add(1) }
func (l *lagging) Release()               { l.refs.Add(-1) }

func (l *lagging) Sync(d mem.Direction, off, n int64) error {
	if off < 0 || n < 0 || off > l.Size() || n > l.Size()-off {
		return fault.New(fault.Argument, "%d bytes at %d of %d", n, off, l.Size())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if d&mem.ToDevice != 0 {
		copy(l.far[off:off+n], l.near[off:])
	}
	if d&mem.FromDevice != 0 {
		copy(l.near[off:off+n], l.far[off:])
	}
	return nil
}

// incoherent binds memory that must be synchronized: an input before it is read, an output when it has been written.
func incoherent(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		in, out := newLagging(24), newLagging(24)
		for seed := range 3 { // a device that looks in time only once shows
			want, err := s.bindInputs(e, seed, 2, 3)
			if err != nil {
				return err
			}
			o, err := newOperand(seed, 2, 3) // as bindInputs has made for input 0
			if err != nil {
				return err
			}
			o.release()
			copy(in.far, tensor.Float32s(o.values...))
			if err := e.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Float32, 2, 3)}); err != nil {
				return fmt.Errorf("bind input: %w", err)
			}
			if err := e.BindOutput(0, mem.View{Buf: out, Type: tensor.T(tensor.Float32, 2, 3)}); err != nil {
				return fmt.Errorf("bind output: %w", err)
			}
			if err := compute(e); err != nil {
				return err
			}
			if err := wantData("output", out.far, want); err != nil {
				return err
			}
		}
		return nil
	})
}
