package driver

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Memory is where a driver reads an input or writes an output.
type Memory struct {
	At    uintptr // the driver's object for it, 0: none
	Bytes []byte  // nil for a buffer's that only the driver uses
	// Buf is the buffer whose bytes they are, with a reference; nil: they are the driver's, or end by End.
	Buf mem.Buffer
	Off int64  // of the bytes in Buf
	End func() // ends what the driver has of it; nil: nothing
}

// Release ends the memory, which may be nil.
func (m *Memory) Release() {
	if m == nil {
		return
	}
	if m.End != nil {
		m.End()
	}
	if m.Buf != nil {
		m.Buf.Release()
	}
}

// Form is how the elements of an input or output lie in the driver's memory.
type Form interface {
	// Fits reports whether the elements of a bound view lie so, in which case the driver may work on its buffer.
	Fits(v mem.View) bool
	// Load copies the elements of a view to the driver's memory, Store the other way.
	Load(m *Memory, v mem.View) error
	Store(m *Memory, v mem.View) error
	// Elements returns a copy of the elements, row-major.
	Elements(m *Memory) ([]byte, error)
}

// rowMajor is the form of elements without gaps, in the order of their dimensions.
type rowMajor struct{ size int64 }

func (f rowMajor) Fits(v mem.View) bool              { return v.Contiguous() }
func (f rowMajor) Load(m *Memory, v mem.View) error  { return v.Load(m.Bytes[:f.size]) }
func (f rowMajor) Store(m *Memory, v mem.View) error { return v.Store(m.Bytes[:f.size]) }
func (f rowMajor) Elements(m *Memory) ([]byte, error) {
	return append(make([]byte, 0, f.size), m.Bytes[:f.size]...), nil
}

// Slot is the memory of one input or output of an execution.
type Slot struct {
	Index  int         // among the inputs, or the outputs
	Output bool        // else an input
	Type   tensor.Type // of an open result: what the last run has found
	Size   int64       // bytes of the elements, without gaps
	Form   Form        // row-major if nothing else is set
	Set    *Memory     // what the driver reads or writes in the run

	room  int64   // bytes of the memory for an open result, 0: it is none
	own   *Memory // nil: not needed so far
	given *Memory // of the buffer that was bound last, nil: none that the driver takes
}

// Wrap says in an error whose the slot is.
func (s *Slot) Wrap(err error) error {
	if s.Output {
		return fault.Wrap(err, "output %d", s.Index)
	}
	return fault.Wrap(err, "input %d", s.Index)
}

// Open reports whether each run finds the sizes of the result. It is written to memory of the execution's own, which
// has room for the largest one that the port says, and copied from there.
func (s *Slot) Open() bool { return s.room > 0 }

// Room is how many bytes of memory of its own the slot needs.
func (s *Slot) Room() int64 {
	if s.Open() {
		return s.room
	}
	return s.Size
}

// Found says which sizes the run has found for an open result. false: it has no room for them.
func (s *Slot) Found(dims []int64) bool {
	typ := tensor.Type{DType: s.Type.DType, Shape: tensor.Of(dims...), Quant: s.Type.Quant}
	size, ok := typ.ByteSize()
	if !ok || size > s.room {
		return false
	}
	s.Type, s.Size, s.Form = typ, size, rowMajor{size}
	return true
}

// copied reports whether the driver works on memory of the execution's own.
func (s *Slot) copied() bool { return s.Set == s.own }

// use has the driver work on a bound view where it can, else on memory of the execution's own.
func (s *Slot) use(c Calls, v mem.View) (err error) {
	if s.given != nil && (s.given.Buf != v.Buf || s.given.Off != v.Off || !s.Form.Fits(v)) {
		s.drop()
	}
	if s.given == nil && v.Buf != nil && s.Form.Fits(v) {
		s.given = c.Take(s, v)
	}
	if s.Set = s.given; s.Set != nil {
		return nil
	}
	if s.own == nil {
		if s.own, err = c.Own(s); err != nil {
			return err
		}
	}
	s.Set = s.own
	return nil
}

// drop ends memory of a buffer.
func (s *Slot) drop() {
	if s.Set == s.given {
		s.Set = nil
	}
	s.given.Release()
	s.given = nil
}

// release ends all memory.
func (s *Slot) release() {
	s.drop()
	s.own.Release()
	s.own, s.Set = nil, nil
}
