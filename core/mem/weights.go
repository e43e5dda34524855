package mem

import (
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// slabSize is the size of the blocks that small constants share; larger ones get memory of their own.
const slabSize = 256 << 10

// Weights keeps the constants of a program and their packed forms outside the Go heap, each (constant, form) once. It starts with one
// reference; the last Release frees everything. All methods are safe for concurrent use.
type Weights struct {
	refs  atomic.Int64
	bytes atomic.Int64

	mu    sync.Mutex
	forms map[weightKey]*weight
	slabs []Buffer
	room  []byte // the rest of the newest slab
}

type weightKey struct {
	hash tensor.Hash
	form string
}

// weight is one form; made is closed when data or err is set.
type weight struct {
	made chan struct{}
	data []byte
	err  error
}

// NewWeights returns an empty store.
func NewWeights() *Weights {
	w := &Weights{forms: map[weightKey]*weight{}}
	w.refs.Store(1)
	return w
}

// Add copies a constant's original bytes into the store unless they are there, and returns the store's copy. Kind fault.Memory.
func (w *Weights) Add(h tensor.Hash, data []byte) ([]byte, error) {
	return w.make(weightKey{hash: h}, func() ([]byte, error) { return data, nil })
}

// Get returns constant h in the given form ("" is the original), making the form with pack when it is not there yet; what pack returns is
// copied. Concurrent calls for one form run pack once; a failed pack is not remembered. The bytes stay valid until the store is freed and
// must not be written. Kind fault.Argument when the original was never added or there is neither the form nor a pack.
func (w *Weights) Get(h tensor.Hash, form string, pack func(original []byte) ([]byte, error)) ([]byte, error) {
	return w.make(weightKey{h, form}, func() ([]byte, error) {
		if form == "" || pack == nil {
			return nil, fault.New(fault.Argument, "constant %v has no form %q", h, form)
		}
		original, err := w.Get(h, "", nil)
		if err != nil {
			return nil, err
		}
		return pack(original)
	})
}

func (w *Weights) make(key weightKey, source func() ([]byte, error)) ([]byte, error) {
	w.mu.Lock()
	if e, ok := w.forms[key]; ok {
		w.mu.Unlock()
		<-e.made
		return e.data, e.err
	}
	e := &weight{made: make(chan struct{}), err: fault.New(fault.Internal, "packing constant %v as %q panicked", key.hash, key.form)}
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
	data, err := source()
	if err == nil {
		data, err = w.keep(data)
	}
	e.data, e.err = data, err
	return data, err
}

// keep copies data into memory of the store, aligned to MinAlign.
func (w *Weights) keep(data []byte) ([]byte, error) {
	dst, err := w.take(int64(len(data)))
	if err != nil {
		return nil, err
	}
	copy(dst, data)
	w.bytes.Add(int64(len(data)))
	return dst, nil
}

func (w *Weights) take(n int64) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	padded := roundUp(n, MinAlign)
	if guarded.Load() || padded > slabSize/4 {
		b, err := Host(n, Options{Huge: true})
		if err != nil {
			return nil, err
		}
		w.slabs = append(w.slabs, b)
		return b.Map()
	}
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
	w.forms, w.slabs, w.room = nil, nil, nil
}
