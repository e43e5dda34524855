package mem

import (
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// slabSize is the size of the blocks that small constants share; larger ones get memory of their own.
const slabSize = 256 << 10

// Weights keeps the constants of a program and their packed forms outside the Go heap, each (constant, form) once. It
// starts with one reference; the last Release frees everything. All methods are safe for concurrent use.
type Weights struct {
	refs  atomic.Int64
	bytes atomic.Int64

	mu    sync.Mutex
	forms map[weightKey]*weight
	slabs []Buffer
	room  []byte // the rest of the newest slab
}

// large tells whether a constant of n bytes gets memory of its own.
func large(n int64) bool { return guarded.Load() || roundUp(n, MinAlign) > slabSize/4 }

type weightKey struct {
	hash tensor.Hash
	form string
}

// weight is one form; made is closed when data or err is set.
type weight struct {
	made chan struct{}
	data []byte
	own  Buffer // memory of its own, nil: in a slab
	err  error
}

// NewWeights returns an empty store.
func NewWeights() *Weights {
	w := &Weights{forms: map[weightKey]*weight{}}
	w.refs.Store(1)
	return w
}

// Add copies a constant's original bytes into the store unless they are there, and returns the store's copy. Kind
// fault.Memory.
func (w *Weights) Add(h tensor.Hash, data []byte) ([]byte, error) {
	return w.make(weightKey{hash: h}, func(e *weight) error { return w.keep(e, data) })
}

// Make is Add of a constant of n bytes that fill writes, zeroed before, into memory of the store, without a copy when
// it is large; it returns the hash of the written bytes, too. Kinds: fault.Argument (n is negative), fault.Memory, what
// fill returns.
func (w *Weights) Make(n int64, fill func(dst []byte) error) (h tensor.Hash, data []byte, err error) {
	var own Buffer
	if large(n) {
		if own, err = Host(n, Options{}); err != nil {
			return h, nil, err
		}
		defer func() {
			if own != nil {
				own.Release()
			}
		}()
		if data, err = own.Map(); err != nil {
			return h, nil, err
		}
	} else if n >= 0 {
		data = make([]byte, n)
	} else {
		return h, nil, fault.New(fault.Argument, "constant of %d bytes", n)
	}
	if err = fill(data); err != nil {
		return h, nil, err
	}
	h = tensor.HashOf(data)
	data, err = w.make(weightKey{hash: h}, func(e *weight) error {
		if own == nil {
			return w.keep(e, data)
		}
		e.own, e.data, own = own, data, nil
		w.bytes.Add(n)
		return nil
	})
	return h, data, err
}

// Drop frees the original of constant h when it has memory of its own, which constants above 64 KiB have, and reports
// whether it did. Whoever holds its bytes must not touch them any more; the store does not know h then.
func (w *Weights) Drop(h tensor.Hash) bool {
	key := weightKey{hash: h}
	w.mu.Lock()
	e, ok := w.forms[key]
	if ok {
		select {
		case <-e.made:
			ok = e.own != nil
		default: // being made: in use
			ok = false
		}
	}
	if ok {
		delete(w.forms, key)
	}
	w.mu.Unlock()
	if ok {
		w.bytes.Add(-int64(len(e.data)))
		e.own.Release()
	}
	return ok
}

// Get returns constant h in the given form ("" is the original), making the form with pack when it is not there yet;
// what pack returns is copied. Concurrent calls for one form run pack once; a failed pack is not remembered. The bytes
// stay valid until the store is freed and must not be written. Kind fault.Argument when the original was never added or
// there is neither the form nor a pack.
func (w *Weights) Get(h tensor.Hash, form string, pack func(original []byte) ([]byte, error)) ([]byte, error) {
	return w.make(weightKey{h, form}, func(e *weight) error {
		if form == "" || pack == nil {
			return fault.New(fault.Argument, "constant %v has no form %q", h, form)
		}
		original, err := w.Get(h, "", nil)
		if err != nil {
			return err
		}
		packed, err := pack(original)
		if err != nil {
			return err
		}
		return w.keep(e, packed)
	})
}

// make returns the bytes of a form; source sets e.data of one that is not there yet.
func (w *Weights) make(key weightKey, source func(e *weight) error) ([]byte, error) {
	w.mu.Lock()
	if e, ok := w.forms[key]; ok {
		w.mu.Unlock()
		<-e.made
		return e.data, e.err
	}
	e := &weight{made: make(chan struct{}), err: fault.New(fault.Internal, "packing constant %v as %q panicked", key.hash,
		key.form)}
	w.forms[key] = e
	w.mu.Unlock()
	defer func() {
		if e.err != nil {
			w.mu.Lock()
			delete(w.forms, key)
			w.mu.Unlock()
		}
		close(e.made)
	}()
	e.err = source(e)
	return e.data, e.err
}

// keep copies data into memory of the store, aligned to MinAlign.
func (w *Weights) keep(e *weight, data []byte) error {
	n := int64(len(data))
	if large(n) {
		b, err := Host(n, Options{})
		if err != nil {
			return err
		}
		if e.data, err = b.Map(); err != nil {
			b.Release()
			return err
		}
		e.own = b
	} else {
		var err error
		if e.data, err = w.take(n); err != nil {
			return err
		}
	}
	copy(e.data, data)
	w.bytes.Add(n)
	return nil
}

// take returns n bytes of a slab.
func (w *Weights) take(n int64) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	padded := roundUp(n, MinAlign)
	if int64(len(w.room)) < padded {
		b, err := Host(slabSize, Options{})
		if err != nil {
			return nil, err
		}
		w.slabs = append(w.slabs, b)
		if w.room, err = b.Map(); err != nil {
			return nil, err
		}
	}
	dst := w.room[:n:n]
	w.room = w.room[padded:]
	return dst, nil
}

// Bytes returns the bytes of all originals and forms.
func (w *Weights) Bytes() int64 { return w.bytes.Load() }

// Retain adds a reference.
func (w *Weights) Retain() {
	if w.refs.Add(1) <= 1 {
		panic("mem: freed weights were retained")
	}
}

// Release drops a reference; the last one frees all bytes.
func (w *Weights) Release() {
	switch n := w.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("mem: weights were released more often than retained")
	}
	for _, b := range w.slabs {
		b.Release()
	}
	for _, e := range w.forms {
		if e.own != nil {
			e.own.Release()
		}
	}
	w.forms, w.slabs, w.room = nil, nil, nil
}
