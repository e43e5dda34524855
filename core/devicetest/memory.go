package devicetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// remote is memory that the host cannot map and that belongs to no device.
type remote struct {
	data []byte
	refs atomic.Int64
}

func newRemote(n int) *remote {
	r := &remote{data: bytes.Repeat([]byte{canary}, n)}
	r.refs.Store(1)
	return r
}

func (r *remote) Size() int64            { return int64(len(r.data)) }
func (r *remote) Map() ([]byte, error)   { return nil, mem.ErrUnmappable }
func (r *remote) FD() (int, int64, bool) { return -1, 0, false }
func (r *remote) Retain()                { r.refs.Add(1) }
func (r *remote) Release()               { r.refs.Add(-1) }

func (r *remote) Sync(_ mem.Direction, off, n int64) error { return r.inside(off, n) }

func (r *remote) inside(off, n int64) error {
	if off < 0 || n < 0 || off > r.Size() || n > r.Size()-off {
		return fault.New(fault.Argument, "%d bytes at %d of %d", n, off, r.Size())
	}
	return nil
}

// CopyIn implements mem.Transfer.
func (r *remote) CopyIn(off int64, src []byte) error {
	if err := r.inside(off, int64(len(src))); err != nil {
		return err
	}
	copy(r.data[off:], src)
	return nil
}

// CopyOut implements mem.Transfer.
func (r *remote) CopyOut(dst []byte, off int64) error {
	if err := r.inside(off, int64(len(dst))); err != nil {
		return err
	}
	copy(dst, r.data[off:])
	return nil
}

// unmappable binds memory without an owner to every port: the device has to copy, and says so.
func unmappable(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		o, err := newOperand(1, 2, 3) // as bindInputs has made for input 0
		if err != nil {
			return err
		}
		o.release()
		in, out := newRemote(24), newRemote(32)
		copy(in.data, tensor.Float32s(o.values...))
		if err := e.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Float32, 2, 3)}); err != nil {
			return fmt.Errorf("bind input: %w", err)
		}
		if err := e.BindOutput(0, mem.View{Buf: out, Off: 4, Type: tensor.T(tensor.Float32, 2, 3)}); err != nil {
			return fmt.Errorf("bind output: %w", err)
		}
		if err := compute(e); err != nil {
			return err
		}
		if err := wantData("output", out.data[4:28], want); err != nil {
			return err
		}
		if out.data[3] != canary || out.data[28] != canary {
			return fmt.Errorf("bytes beside the output were written: % x", out.data)
		}
		if c := e.Stats(); c.CopiedIn < 24 || c.CopiedOut < 24 {
			return fmt.Errorf("%d bytes copied in, %d out: want 24 at least of each", c.CopiedIn, c.CopiedOut)
		}
		return nil
	})
}

// references counts who holds memory that is bound, bound anew and left to the release.
func references(s *Subject) error {
	first, second, out := newRemote(24), newRemote(24), newRemote(24)
	err := s.with(tensor.Of(2, 3), func(e device.Execution) error {
		if _, err := s.bindInputs(e, 1, 2, 3); err != nil {
			return err
		}
		clear(first.data)
		clear(second.data)
		t := tensor.T(tensor.Float32, 2, 3)
		for _, b := range []*remote{first, second} {
			if err := e.BindInput(0, mem.View{Buf: b, Type: t}); err != nil {
				return err
			}
			if n := b.refs.Load(); n < 2 {
				return fmt.Errorf("%d references to a bound buffer: the execution has none of its own", n)
			}
		}
		if n := first.refs.Load(); n != 1 {
			return fmt.Errorf("%d references to a buffer that is no longer bound, want the caller's alone", n)
		}
		if err := e.BindOutput(0, mem.View{Buf: out, Type: t}); err != nil {
			return err
		}
		return compute(e)
	})
	if err != nil {
		return err
	}
	if a, b := second.refs.Load(), out.refs.Load(); a != 1 || b != 1 {
		return fmt.Errorf("%d references to an input and %d to an output after the release, want the caller's alone", a, b)
	}
	return nil
}

func alloc(s *Subject) error {
	for _, n := range []int64{0, 1, 4096, 1 << 20} {
		b, err := s.Device.Alloc(n)
		if err != nil {
			return fmt.Errorf("%d bytes: %w", n, err)
		}
		err = usable(b, n)
		b.Release()
		if err != nil {
			return fmt.Errorf("%d bytes: %w", n, err)
		}
	}
	b, err := s.Device.Alloc(-1)
	if err == nil {
		b.Release()
		return fmt.Errorf("-1 bytes: no error")
	}
	return nil
}

// usable writes a buffer of n bytes and reads it back.
func usable(b mem.Buffer, n int64) error {
	if b.Size() != n {
		return fmt.Errorf("its size is %d", b.Size())
	}
	if _, err := b.Map(); err != nil && !errors.Is(err, mem.ErrUnmappable) {
		return fmt.Errorf("map: %w", err)
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7)
	}
	if err := mem.Write(b, 0, data); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	got, err := contents(b)
	if err != nil || !bytes.Equal(got, data) {
		return fmt.Errorf("read: %v, or other bytes than were written", err)
	}
	return nil
}

// saved returns the saved form of the subject's graph.
func (s *Subject) saved() ([]byte, error) {
	if !s.Device.Info().Cache {
		return nil, skipped("the device has no saved programs")
	}
	p, err := s.program(tensor.Of(2, 3), device.Options{})
	if err != nil {
		return nil, err
	}
	defer p.Release()
	var w bytes.Buffer
	if err := p.Save(&w); err != nil {
		return nil, fmt.Errorf("save: %w", err)
	}
	return w.Bytes(), nil
}

func saveAndLoad(s *Subject) error {
	data, err := s.saved()
	if err != nil {
		if !Skipped(err) {
			return err
		}
		p, compileErr := s.program(tensor.Of(2, 3), device.Options{})
		if compileErr != nil {
			return compileErr
		}
		defer p.Release()
		if err := wantKind("save", p.Save(new(bytes.Buffer)), fault.Unsupported); err != nil {
			return err
		}
		return err
	}
	p, err := s.Device.Load(context.Background(), data)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	in, out := p.Ports()
	e, err := s.execution(p)
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	if len(in) != 2 || len(out) != 1 || in[0].Name != "x" || !in[1].Type.Shape.Equal(tensor.Of(2, 3)) {
		return fmt.Errorf("ports of a loaded program: %+v and %+v", in, out)
	}
	want, err := s.bindInputs(e, 1, 2, 3)
	if err != nil {
		return err
	}
	if err := compute(e); err != nil {
		return err
	}
	return wantOutput(e, want)
}

// damagedBlobs cuts a saved program at every byte, changes every byte, and offers what never was one. Each is refused
// as a bad file, or it computes, for a byte that says nothing (a name) may change.
func damagedBlobs(s *Subject) error {
	data, err := s.saved()
	if err != nil {
		return err
	}
	load := func(what string, data []byte) error {
		p, err := s.Device.Load(context.Background(), data)
		if err == nil {
			p.Release()
			return nil
		}
		return wantKind(what, err, fault.File)
	}
	for n := range len(data) {
		p, err := s.Device.Load(context.Background(), data[:n])
		if err == nil {
			p.Release()
			return fmt.Errorf("the first %d of %d bytes of a saved program were loaded", n, len(data))
		}
		if err := wantKind(fmt.Sprintf("the first %d of %d bytes", n, len(data)), err, fault.File); err != nil {
			return err
		}
		changed := bytes.Clone(data)
		changed[n] ^= 0xff
		if err := load(fmt.Sprintf("byte %d of %d changed", n, len(data)), changed); err != nil {
			return err
		}
	}
	return nil
}
