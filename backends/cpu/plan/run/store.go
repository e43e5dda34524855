package run

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Packed constants lie one after another in segments that grow with the graph's demand. Pages that were never written
// take no memory.
const (
	leastSegment = 256 << 10
	mostSegment  = 16 << 20
	HugeSegment  = 4 << 20 // from here on with huge pages
)

// Store keeps packed constants outside the Go heap, one copy for all plans of a graph, which differ in input sizes
// only: what follows from these is not kept here. The zero Store is ready; it is safe for concurrent use.
type Store struct {
	mu       sync.Mutex
	forms    map[Form]kept
	deferred map[Form]*Deferred
	segments []mem.Buffer
	size     int64       // of all segments
	rooms    [][]float32 // the rests of segments
	spare    []spare
	bodies   map[bodyOf]*Store
}

// bodyOf names a graph within a node.
type bodyOf struct{ node, body int }

// kept is a form that was made, and what it follows from beside its constant.
type kept struct {
	data   []float32
	beside tensor.Hash
}

// spare is memory that was taken and given back.
type spare struct {
	data      []float32
	scattered bool
}

// Form names packed data: the node it belongs to and what it is.
type Form struct {
	Node int
	Kind string
}

// Find returns a form of n values that was made, nil when it was not; other says that the one which was made is
// another.
func (s *Store) Find(f Form, n int, beside tensor.Hash) (data []float32, other bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.forms[f]
	if ok && (len(k.data) != n || k.beside != beside) {
		return nil, true
	}
	return k.data, false
}

// Keep remembers a form in memory of take.
func (s *Store) Keep(f Form, data []float32, beside tensor.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forms == nil {
		s.forms = map[Form]kept{}
	}
	s.forms[f] = kept{data, beside}
}

// GiveBack takes memory of take back that nothing reads.
func (s *Store) GiveBack(data []float32, scattered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = append(s.spare, spare{data, scattered})
}

// Take returns memory for n values, zeroed, at a multiple of 64 bytes, of its own and without huge pages if scattered.
// Kind fault.Memory.
func (s *Store) Take(n int, scattered bool) ([]float32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(x spare) bool { return len(x.data) == n && x.scattered == scattered }
	if i := slices.IndexFunc(s.spare, same); i >= 0 {
		data := s.spare[i].data
		s.spare = slices.Delete(s.spare, i, i+1)
		clear(data)
		return data, nil
	}
	padded := (n + 15) &^ 15
	if scattered || mem.Guarded() {
		return s.segment(int64(4*n), false)
	}
	at := slices.IndexFunc(s.rooms, func(r []float32) bool { return len(r) >= padded })
	if at < 0 {
		size := max(int64(4*padded), min(mostSegment, max(leastSegment, s.size)))
		room, err := s.segment(size, size >= HugeSegment)
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
	return Floats(data), err
}

// Later returns the deferred form f that the store has, which d becomes if there is none; d itself where that is
// another form.
func (s *Store) Later(f Form, d *Deferred) *Deferred {
	s.mu.Lock()
	defer s.mu.Unlock()
	if has, ok := s.deferred[f]; ok {
		if has.N != d.N || has.Beside != d.Beside {
			return d
		}
		return has
	}
	if s.deferred == nil {
		s.deferred = map[Form]*Deferred{}
	}
	d.store = s
	s.deferred[f] = d
	return d
}

// OwnForm returns memory for n values of one plan, zeroed, at a multiple of 64 bytes. Kind fault.Memory.
func OwnForm(n int) ([]float32, error) {
	const line = 16
	v, err := mem.Make[float32](n + line - 1)
	if err != nil {
		return nil, err
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(v))) / 4 % line)
	return v[skip:][:n:n], nil
}

// NumbersOf distinguishes lists of numbers, given as bytes.
func NumbersOf(lists ...[]byte) tensor.Hash {
	var all []byte
	for _, b := range lists {
		all = append(binary.LittleEndian.AppendUint64(all, uint64(len(b))), b...)
	}
	return tensor.HashOf(all)
}

// Body is the store of a graph within a node.
func (s *Store) Body(node, body int) *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bodies == nil {
		s.bodies = map[bodyOf]*Store{}
	}
	of := bodyOf{node, body}
	if s.bodies[of] == nil {
		s.bodies[of] = &Store{}
	}
	return s.bodies[of]
}

// Release frees everything. No plan over the store may be in use.
func (s *Store) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.bodies {
		b.Release()
	}
	s.bodies = nil
	for _, b := range s.segments {
		b.Release()
	}
	s.forms, s.deferred, s.segments, s.rooms, s.spare = nil, nil, nil, nil, nil
}

// Deferred is a form that takes much more memory than the constant it is made from: it is made when a run needs it.
type Deferred struct {
	store  *Store // nil: it is one plan's alone
	N      int
	Beside tensor.Hash
	Fill   func(s *State, dst []float32) error
	Done   func() // what to do when it is made, nil: nothing

	Ready atomic.Bool
	mu    sync.Mutex
	data  []float32
}

// Get returns the form, making it with the state's threads when it is not there yet. Kind fault.Memory.
func (d *Deferred) Get(s *State) ([]float32, error) {
	if d.Ready.Load() {
		return d.data, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Ready.Load() {
		return d.data, nil
	}
	data, err := d.take()
	if err != nil {
		return nil, err
	}
	if err := d.Fill(s, data); err != nil {
		if d.store != nil {
			d.store.GiveBack(data, false)
		}
		return nil, err
	}
	d.data, d.Fill = data, nil
	d.Ready.Store(true)
	if d.Done != nil {
		d.Done()
	}
	return data, nil
}

func (d *Deferred) take() ([]float32, error) {
	if d.store == nil {
		return OwnForm(d.N)
	}
	return d.store.Take(d.N, false)
}
