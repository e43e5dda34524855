package hb

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
)

// Model is the common part of the models of both APIs: one of a pack, as long as that lives.
type Model struct {
	handle.Ref
	Pack  *Packed
	Name  string
	Execs Executions

	latency atomic.Int64 // microseconds of a run, 0: not known

	mu    sync.Mutex
	texts map[string]*boundary.Block
}

// Base is the model itself, for a type that embeds it.
func (m *Model) Base() *Model { return m }

// Packed is the handle of a pack: the models of some files (section 3).
type Packed struct {
	handle.Ref
	Files  int // that the call named
	models []PackedModel
	names  boundary.Block // addresses of the models' names

	mu     sync.Mutex
	busy   int  // that use one of the models
	held   int  // that want the pack to stay
	closed bool // it is being released
}

// A PackedModel is a façade's model, which embeds Model.
type PackedModel interface {
	handle.Object
	Base() *Model
	Free()
}

// BadHandle gives an error the code for a handle that is no pack's.
func (*Packed) BadHandle(err error) error {
	return RefuseFor(BadPackedHandle, err, "no pack of models [hb-no-pack-models]")
}

// BadHandle gives an error the code for a handle that is no model's.
func (*Model) BadHandle(err error) error {
	return RefuseFor(BadModelHandle, err, "no model [hb-no-model]")
}

// Text is the address of a C string that lives as long as the model.
func (m *Model) Text(s string) uintptr {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.texts[s]
	if b == nil {
		if m.texts == nil {
			m.texts = map[string]*boundary.Block{}
		}
		b = &boundary.Block{}
		b.SetString(s)
		m.texts[s] = b
	}
	return b.Addr()
}

// Free ends a model that no task uses.
func (m *Model) Free() {
	for _, b := range m.texts {
		b.Free()
	}
	m.Execs.Release()
}

// Latency is the time of a run in microseconds, 0 before the first one.
func (m *Model) Latency() int64 { return m.latency.Load() }

const roundsOfAnAverage = 8

// Learn takes the time of a run into the estimate: an eighth of the new time, seven of the estimate so far.
func (m *Model) Learn(took time.Duration) {
	for {
		old := m.latency.Load()
		now := max(took.Microseconds(), 1)
		if old != 0 {
			now = (old*(roundsOfAnAverage-1) + now) / roundsOfAnAverage
		}
		if m.latency.CompareAndSwap(old, now) {
			return
		}
	}
}

// Placement returns where the nodes of the model run, as JSON. It serves anynpu_placement_report.
func (m *Model) Placement() []byte { return m.Execs.Program.Placement().JSON() }

// Compiled returns the program of the model. It serves anynpu_export.
func (m *Model) Compiled() (program device.Program, release func()) {
	p := m.Execs.Program
	p.Retain()
	return p, p.Release
}
