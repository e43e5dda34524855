package plan

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Packed constants lie one after another in segments that grow with what a graph needs. Pages that nothing was written
// to take no memory.
const (
	leastSegment = 256 << 10
	mostSegment  = 16 << 20
	hugeSegment  = 4 << 20 // from here on with huge pages
)

// Store keeps packed constants outside the Go heap, one copy for all plans of a graph, which differ in input sizes
// only: what follows from these is not kept here. The zero Store is ready; it is safe for concurrent use.
type Store struct {
	mu       sync.Mutex
	forms    map[form]kept
	deferred map[form]*deferred
	segments []mem.Buffer
	size     int64       // of all segments
	rooms    [][]float32 // the rests of segments
	spare    []spare
}

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

// form names packed data: the node it belongs to and what it is.
type form struct {
	node int
	kind string
}

// find returns a form of n values that was made, nil when it was not; other says that the one which was made is
// another.
func (s *Store) find(f form, n int, beside tensor.Hash) (data []float32, other bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.forms[f]
	if ok && (len(k.data) != n || k.beside != beside) {
		return nil, true
	}
	return k.data, false
}

// keep remembers a form in memory of take.
func (s *Store) keep(f form, data []float32, beside tensor.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forms == nil {
		s.forms = map[form]kept{}
	}
	s.forms[f] = kept{data, beside}
}

// giveBack takes memory of take back that nothing reads.
func (s *Store) giveBack(data []float32, scattered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = append(s.spare, spare{data, scattered})
}

// take returns memory for n values, zeroed, at a multiple of 64 bytes, of its own and without huge pages if scattered.
// Kind fault.Memory.
func (s *Store) take(n int, scattered bool) ([]float32, error) {
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

// later returns the deferred form f that the store has, which d becomes if there is none; d itself where that is
// another form.
func (s *Store) later(f form, d *deferred) *deferred {
	s.mu.Lock()
	defer s.mu.Unlock()
	if has, ok := s.deferred[f]; ok {
		if has.n != d.n || has.beside != d.beside {
			return d
		}
		return has
	}
	if s.deferred == nil {
		s.deferred = map[form]*deferred{}
	}
	d.store = s
	s.deferred[f] = d
	return d
}

// ownForm returns memory for n values of one plan, zeroed, at a multiple of 64 bytes. Kind fault.Memory.
func ownForm(n int) ([]float32, error) {
	const line = 16
	v, err := mem.Make[float32](n + line - 1)
	if err != nil {
		return nil, err
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(v))) / 4 % line)
	return v[skip:][:n:n], nil
}

// numbersOf tells lists of numbers apart, which the bytes are.
func numbersOf(lists ...[]byte) tensor.Hash {
	var all []byte
	for _, b := range lists {
		all = append(binary.LittleEndian.AppendUint64(all, uint64(len(b))), b...)
	}
	return tensor.HashOf(all)
}

// Release frees everything. No plan over the store may be in use.
func (s *Store) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.segments {
		b.Release()
	}
	s.forms, s.deferred, s.segments, s.rooms, s.spare = nil, nil, nil, nil, nil
}

// deferred is a form that takes much more memory than the constant it is made from: it is made when a run needs it.
type deferred struct {
	store  *Store // nil: it is one plan's alone
	n      int
	beside tensor.Hash
	fill   func(s *State, dst []float32) error
	done   func() // what to do when it is made, nil: nothing

	ready atomic.Bool
	mu    sync.Mutex
	data  []float32
}

// get returns the form, making it with the state's threads when it is not there yet. Kind fault.Memory.
func (d *deferred) get(s *State) ([]float32, error) {
	if d.ready.Load() {
		return d.data, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready.Load() {
		return d.data, nil
	}
	data, err := d.take()
	if err != nil {
		return nil, err
	}
	if err := d.fill(s, data); err != nil {
		if d.store != nil {
			d.store.giveBack(data, false)
		}
		return nil, err
	}
	d.data, d.fill = data, nil
	d.ready.Store(true)
	if d.done != nil {
		d.done()
	}
	return data, nil
}

func (d *deferred) take() ([]float32, error) {
	if d.store == nil {
		return ownForm(d.n)
	}
	return d.store.take(d.n, false)
}
