package plan

import (
	"slices"
	"sync"

	"github.com/anynpu/anynpu/core/mem"
)

// Packed constants lie one after another in segments that grow with what a graph needs. Pages that nothing was written
// to take no memory.
const (
	leastSegment = 256 << 10
	mostSegment  = 16 << 20
	hugeSegment  = 4 << 20 // from here on with huge pages
)

// Store keeps packed constants outside the Go heap, one copy for all plans of a graph, which differ in input sizes
// only. The zero Store is ready; it is safe for concurrent use.
type Store struct {
	mu       sync.Mutex
	forms    map[form][]float32
	deferred map[form]*deferred
	segments []mem.Buffer
	size     int64       // of all segments
	rooms    [][]float32 // the rests of segments
}

// form names packed data: the node it belongs to and what it is.
type form struct {
	node int
	kind string
}

// find returns a form that was made, nil when it was not.
func (s *Store) find(f form) []float32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forms[f]
}

// keep remembers a form in memory of take.
func (s *Store) keep(f form, data []float32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forms == nil {
		s.forms = map[form][]float32{}
	}
	s.forms[f] = data
}

// take returns memory for n values, zeroed, at a multiple of 64 bytes, of its own and without huge pages if scattered.
// Kind fault.Memory.
func (s *Store) take(n int, scattered bool) ([]float32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	padded := (n + 15) &^ 15
	if scattered || mem.Guarded() {
		return s.segment(int64(4*n), false)
	}
	at := slices.IndexFunc(s.rooms, func(r []float32) bool { return len(r) >= padded })
	if at < 0 {
		size := max(int64(4*padded), min(mostSegment, max(leastSegment, s.size)))
		room, err := s.segment(size, size >= hugeSegment)
		if err != nil {
			return nil, err
		}
		at = len(s.rooms)
		s.rooms = append(s.rooms, room)
	}
	v := s.rooms[at][:n:n]
	s.rooms[at] = s.rooms[at][padded:]
	return v, nil
}

func (s *Store) segment(size int64, huge bool) ([]float32, error) {
	b, err := mem.Host(size, mem.Options{Huge: huge})
	if err != nil {
		return nil, err
	}
	s.segments = append(s.segments, b)
	s.size += size
	data, err := b.Map()
	return floats(data), err
}

// later returns the deferred form f, made by fill from v's bytes when a run first needs it.
func (s *Store) later(f form, n int, fill func(s *State, dst []float32) error) *deferred {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.deferred[f]
	if !ok {
		d = &deferred{store: s, n: n, fill: fill}
		if s.deferred == nil {
			s.deferred = map[form]*deferred{}
		}
		s.deferred[f] = d
	}
	return d
}

// Release frees everything. No plan over the store may be in use.
func (s *Store) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.segments {
		b.Release()
	}
	s.forms, s.deferred, s.segments, s.rooms = nil, nil, nil, nil
}
