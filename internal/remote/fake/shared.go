package fake

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/internal/oip"
)

// Forget forgets all regions of shared memory, as a server that begins anew.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, f := range s.regions {
		f.Close()
		delete(s.regions, name)
	}
}

// Regions is how many regions are registered.
func (s *Server) Regions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.regions)
}

// region registers or unregisters what a message names, field 1 being the region's name, and 2 its key.
func (s *Server) region(message []byte, register bool) error {
	text := map[protowire.Number]string{}
	for b := message; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			text[num] = string(v)
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if had := s.regions[text[1]]; had != nil {
		if register {
			return errors.New("already in manager")
		}
		delete(s.regions, text[1])
		return had.Close()
	}
	if !register {
		return nil
	}
	f, err := os.OpenFile(filepath.Join("/dev/shm", text[2]), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if s.regions == nil {
		s.regions = map[string]*os.File{}
	}
	s.regions[text[1]] = f
	return nil
}

// place is where parameters say that a tensor lies; nil: in the message.
func (s *Server) place(p oip.Parameters) (f *os.File, off, size int64, err error) {
	name, is := p[oip.SharedMemoryRegion].(string)
	if !is {
		return nil, 0, 0, nil
	}
	s.mu.Lock()
	f = s.regions[name]
	s.mu.Unlock()
	if f == nil {
		return nil, 0, 0, fmt.Errorf("unable to find shared memory region: '%s'", name)
	}
	off, _ = p[oip.SharedMemoryOffset].(int64)
	size, _ = p[oip.SharedMemoryByteSize].(int64)
	return f, off, size, nil
}

// fetch brings the inputs that lie in shared memory.
func (s *Server) fetch(q *oip.Request) error {
	for i := range q.Inputs {
		t := &q.Inputs[i]
		f, off, size, err := s.place(t.Parameters)
		if err != nil {
			return err
		}
		if f != nil {
			t.Raw = make([]byte, size)
			if _, err := f.ReadAt(t.Raw, off); err != nil {
				return err
			}
		}
	}
	return nil
}

// put brings the outputs to shared memory that the request wants there.
func (s *Server) put(q *oip.Request, outputs []oip.Tensor) error {
	for _, o := range q.Outputs {
		f, off, _, err := s.place(o.Parameters)
		if err != nil {
			return err
		}
		for i := range outputs {
			if t := &outputs[i]; f != nil && t.Name == o.Name {
				if _, err := f.WriteAt(t.Raw, off); err != nil {
					return err
				}
				t.Raw, t.Parameters = nil, o.Parameters
			}
		}
	}
	return nil
}
