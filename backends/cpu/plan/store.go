package plan

import (
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
)

// Store keeps packed constants outside the Go heap, one copy for all plans of a graph, which differ in input sizes only. The zero Store is
// ready; it is safe for concurrent use.
type Store struct {
	mu    sync.Mutex
	forms map[form]mem.Buffer
}

// form names packed data: the node it belongs to and what it is.
type form struct {
	node int
	kind string
}

// get returns the n values of a form, made with fill when they are not there yet. fill gets zeroed memory. Kind fault.Memory.
func (s *Store) get(node int, kind string, n int, fill func(dst []float32)) ([]float32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := form{node, kind}
	b, ok := s.forms[key]
	if !ok {
		var err error
		if b, err = mem.Host(int64(4*n), mem.Options{Huge: n >= 2<<20}); err != nil {
			return nil, err
		}
		data, err := b.Map()
		if err != nil {
			b.Release()
			return nil, err
		}
		fill(floats(data))
		if s.forms == nil {
			s.forms = map[form]mem.Buffer{}
		}
		s.forms[key] = b
	}
	data, err := b.Map()
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(data))), n), nil
}

// Release frees everything. No plan over the store may be in use.
func (s *Store) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.forms {
		b.Release()
	}
	s.forms = nil
}
