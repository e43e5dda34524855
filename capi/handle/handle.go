// Package handle turns Go objects into the opaque values that C programs hold, and back.
//
// A handle is a value in one window of address space that nothing else can occupy. It names a slot of a table and the
// slot's generation, so a handle that was destroyed, belongs to another kind of object, or was never given out is
// recognized by a look-up that touches only the table. A running call holds the objects it works on; an object that is
// held cannot be destroyed.
//
// The package knows no API and does not use cgo.
package handle

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/fault"
)

// Why a value is refused as a handle.
var (
	ErrNull    = fault.New(fault.Argument, "NULL [argument-null]")
	ErrForeign = fault.New(fault.Argument, "not a handle of this library [handle-foreign]")
	ErrStale   = fault.New(fault.Argument, "a handle that was destroyed [handle-destroyed]")
	ErrKind    = fault.New(fault.Argument, "a handle of another kind [handle-another-kind]")
	ErrBusy    = fault.New(fault.State, "a handle in use by a running call [handle-busy]")
	ErrFull    = fault.New(fault.Memory, "no free handle: %d objects are alive [handle-no-free-objects]", 1<<indexBits)
)

// Ref is embedded in every object that has a handle. It makes *T an Object.
type Ref struct{ value atomic.Uintptr }

func (r *Ref) ref() *Ref { return r }

// Object is implemented by embedding Ref.
type Object interface{ ref() *Ref }

// The state word of a slot: generation, a live bit, a closing bit, and how many running calls hold the object.
const (
	usesBits  = 30
	usesMask  = 1<<usesBits - 1
	closing   = 1 << usesBits
	live      = 1 << (usesBits + 1)
	genShift  = 32
	pageSlots = 1024
)

type slot struct {
	state  atomic.Uint64
	object Object // written before state gets its live bit, read only while held
	next   uint32 // free list, under the table's lock
}

// A table keeps slots in pages that are never moved or freed, so that look-ups need no lock.
type table struct {
	win   window
	size  uint32 // slots at most
	pages [(indexMask + 1) / pageSlots]atomic.Pointer[[pageSlots]slot]
	alive atomic.Int64

	mu      sync.Mutex
	used    uint32   // slots ever touched
	free    uint32   // first free slot + 1, 0: none
	retired []uint32 // slots whose generation wrapped, oldest first
}

var tab = &table{win: win, size: indexMask + 1}

func (t *table) slot(index uint32) *slot {
	page := t.pages[index/pageSlots].Load()
	if page == nil {
		return nil
	}
	return &page[index%pageSlots]
}

// Of returns o's handle and makes one if o has none. It fails with ErrFull only.
func Of(o Object) (uintptr, error) { return tab.of(o) }

func (t *table) of(o Object) (uintptr, error) {
	ref := o.ref()
	if h := ref.value.Load(); h != 0 {
		return h, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := ref.value.Load(); h != 0 {
		return h, nil
	}
	index, err := t.take()
	if err != nil {
		return 0, err
	}
	s := t.slot(index)
	gen := uint32(s.state.Load() >> genShift)
	h := t.win.encode(index, gen)
	s.object = o
	ref.value.Store(h)
	s.state.Store(uint64(gen)<<genShift | live)
	t.alive.Add(1)
	return h, nil
}

// take returns a free slot. Slots are reused last in, first out, so the table stays small. A slot whose generation
// wrapped is retired until every other slot is used up: a stale handle is not taken for a new one before 2^32 more were
// made.
func (t *table) take() (uint32, error) {
	switch {
	case t.free != 0:
		index := t.free - 1
		t.free = t.slot(index).next
		return index, nil
	case t.used < t.size:
		index := t.used
		if p := &t.pages[index/pageSlots]; p.Load() == nil {
			p.Store(new([pageSlots]slot))
		}
		t.used++
		t.slot(index).state.Store(1 << genShift) // generation 0 is never given out
		return index, nil
	case len(t.retired) > 0:
		index := t.retired[0]
		t.retired = t.retired[1:]
		t.slot(index).state.Store(1 << genShift)
		return index, nil
	}
	return 0, ErrFull
}

// lookup finds the slot of h without looking at its state.
func (t *table) lookup(h uintptr) (*slot, uint32, error) {
	if !t.win.contains(h) || h%granule != 0 {
		return nil, 0, ErrForeign
	}
	index, gen := t.win.decode(h)
	s := t.slot(index)
	if s == nil || gen == 0 {
		return nil, 0, ErrForeign
	}
	return s, gen, nil
}

// hold counts the caller among those that use the object of h, until unhold.
func (t *table) hold(h uintptr) (*slot, error) {
	s, gen, err := t.lookup(h)
	if err != nil {
		return nil, err
	}
	for {
		state := s.state.Load()
		switch {
		case uint32(state>>genShift) != gen || state&live == 0:
			return nil, ErrStale
		case state&closing != 0:
			return nil, ErrBusy
		case state&usesMask == usesMask:
			return nil, ErrBusy
		}
		if s.state.CompareAndSwap(state, state+1) {
			return s, nil
		}
	}
}

// Ours says whether a value lies where this library's handles do, alive or not: it is none of a driver's.
func Ours(h uintptr) bool { return tab.win.contains(h) }

// Hold returns the object of handle h and keeps it from being destroyed until Unhold(h). The error is ErrForeign,
// ErrStale, ErrKind, or ErrBusy if the object is just being destroyed.
func Hold[T any](h uintptr) (*T, error) {
	s, err := tab.hold(h)
	if err != nil {
		return nil, err
	}
	o, ok := s.object.(any).(*T)
	if !ok {
		s.state.Add(^uint64(0))
		return nil, ErrKind
	}
	return o, nil
}

// HoldAny is Hold for an object of any kind.
func HoldAny(h uintptr) (Object, error) {
	s, err := tab.hold(h)
	if err != nil {
		return nil, err
	}
	return s.object, nil
}

// Unhold ends one Hold or HoldAny of h.
func Unhold(h uintptr) {
	if s, _, err := tab.lookup(h); err == nil {
		s.state.Add(^uint64(0))
	}
}

// Close returns the object of handle h and keeps every other call away from it until Drop or Reopen. ErrBusy means that
// a running call holds the object.
func Close[T any](h uintptr) (*T, error) {
	s, err := tab.hold(h)
	if err != nil {
		return nil, err
	}
	o, ok := s.object.(any).(*T)
	if !ok {
		s.state.Add(^uint64(0))
		return nil, ErrKind
	}
	if !tab.close(s) {
		s.state.Add(^uint64(0))
		return nil, ErrBusy
	}
	return o, nil
}

// close turns the caller's hold into the closing state if it is the only hold.
func (t *table) close(s *slot) bool {
	for {
		state := s.state.Load()
		if state&usesMask != 1 || state&closing != 0 {
			return false
		}
		if s.state.CompareAndSwap(state, state-1|closing) {
			return true
		}
	}
}

// Reopen undoes Close, unless the object has died with its owner meanwhile: its slot may be another's then.
func Reopen(h uintptr) {
	s, gen, err := tab.lookup(h)
	if err != nil {
		return
	}
	for {
		state := s.state.Load()
		if uint32(state>>genShift) != gen || s.state.CompareAndSwap(state, state&^closing) {
			return
		}
	}
}

// Drop ends the life of the handle of o, if it has one: after Close, or for an object that dies with its owner. It
// reports false and does nothing if a running call holds o.
func Drop(o Object) bool { return tab.drop(o) }

func (t *table) drop(o Object) bool {
	ref := o.ref()
	t.mu.Lock()
	defer t.mu.Unlock()
	h := ref.value.Load()
	if h == 0 {
		return true
	}
	index, gen := t.win.decode(h)
	s := t.slot(index)
	next := (gen + 1) & t.win.genMask
	for {
		state := s.state.Load()
		if state&usesMask != 0 {
			return false
		}
		if s.state.CompareAndSwap(state, uint64(next)<<genShift) {
			break
		}
	}
	ref.value.Store(0)
	s.object = nil
	t.alive.Add(-1)
	if next == 0 {
		t.retired = append(t.retired, index)
	} else {
		s.next, t.free = t.free, index+1
	}
	return true
}

// Live returns how many handles exist.
func Live() int { return int(tab.alive.Load()) }

// LiveByKind describes the handles that exist, by the Go type of their objects, for leak reports: "*ohnn.Tensor 2".
func LiveByKind() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	counts := map[string]int{}
	for index := uint32(0); index < tab.used; index++ {
		if s := tab.slot(index); s.state.Load()&live != 0 {
			counts[fmt.Sprintf("%T", s.object)]++
		}
	}
	var out []string
	for kind, n := range counts {
		out = append(out, fmt.Sprintf("%s %d", kind, n))
	}
	sort.Strings(out)
	return out
}
