package nnapi

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// plan is a program for the executions that give the same inputs a value, and the same values to the scalars on which
// programs of the model depend. It lives as long as compiled keeps it or an execution uses it.
type plan struct {
	refs      atomic.Int64
	program   device.Program
	placement *device.Placement
	feeds     []int // for each input of program, the model's
	key       []byte

	mu   sync.Mutex
	idle []*io.Execution // for executions to come
}

// maxIdle bounds the executions of core that wait for the next execution of the program.
const maxIdle = 4

func newPlan(p *compile.Program, feeds []int) *plan {
	out := &plan{program: p, placement: p.Placement(), feeds: feeds}
	out.refs.Store(1)
	return out
}

func (p *plan) release() {
	if p.refs.Add(-1) > 0 {
		return
	}
	for _, e := range p.idle {
		e.Release()
	}
	p.idle = nil
	p.program.Release()
}

// take returns an execution of core with nothing bound.
func (p *plan) take(o device.ExecOptions) (*io.Execution, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		e := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return e, nil
	}
	p.mu.Unlock()
	e, err := p.program.New(o)
	if err != nil {
		return nil, err
	}
	in, out := p.program.Ports()
	return io.New(e, len(in), len(out)), nil
}

// give takes back an execution with nothing bound.
func (p *plan) give(e *io.Execution) {
	p.mu.Lock()
	if len(p.idle) < maxIdle {
		p.idle = append(p.idle, e)
		e = nil
	}
	p.mu.Unlock()
	if e != nil {
		e.Release()
	}
}

// maxPlans bounds the plans that a compilation keeps beside the one for all inputs.
const maxPlans = 16

// plans holds the plans that executions have asked for, the one used last at the end.
type plans struct {
	mu   sync.Mutex
	list []*making
}

// making is a plan, or the place for one that is made.
type making struct {
	key   []byte
	maker sync.Mutex // held while the plan is made

	mu   sync.Mutex
	plan *plan // nil until it is made, when that has failed, and when it is gone
	gone bool  // no longer in the list
}

// get returns the plan of a key with a reference for the caller. make makes it where there is none.
func (s *plans) get(key []byte, make func() (*plan, error)) (*plan, error) {
	for {
		m := s.place(key)
		p, gone, err := m.get(make)
		if !gone {
			return p, err
		}
	}
}

// place returns the place of a key as the one used last. The one that was not used for the longest time makes room.
func (s *plans) place(key []byte) *making {
	s.mu.Lock()
	i := slices.IndexFunc(s.list, func(m *making) bool { return bytes.Equal(m.key, key) })
	m, old := (*making)(nil), (*making)(nil)
	if i >= 0 {
		m = s.list[i]
		s.list = append(slices.Delete(s.list, i, i+1), m)
	} else {
		m = &making{key: bytes.Clone(key)}
		if s.list = append(s.list, m); len(s.list) > maxPlans {
			old = s.list[0]
			s.list = slices.Delete(s.list, 0, 1)
		}
	}
	s.mu.Unlock()
	if old != nil {
		old.end()
	}
	return m
}

// made returns the plan, with a reference for the caller, if there is one.
func (m *making) made() (p *plan, gone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.plan != nil {
		m.plan.refs.Add(1)
	}
	return m.plan, m.gone
}

// get makes the plan where there is none. One that is pushed out of the list meanwhile is the caller's alone.
func (m *making) get(make func() (*plan, error)) (p *plan, gone bool, err error) {
	if p, gone = m.made(); p != nil || gone {
		return p, gone, nil
	}
	m.maker.Lock()
	defer m.maker.Unlock()
	if p, gone = m.made(); p != nil || gone {
		return p, gone, nil
	}
	if p, err = make(); err != nil {
		return nil, false, err
	}
	p.key = m.key
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.gone {
		m.plan = p
		p.refs.Add(1)
	}
	return p, false, nil
}

// end takes the plan out of the list's hands. It waits for none that is made.
func (m *making) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone = true
	if m.plan != nil {
		m.plan.release()
		m.plan = nil
	}
}

// last returns the placement of the plan used last, nil while there is none.
func (s *plans) last() *device.Placement {
	s.mu.Lock()
	list := slices.Clone(s.list)
	s.mu.Unlock()
	for _, m := range slices.Backward(list) {
		m.mu.Lock()
		p := m.plan
		m.mu.Unlock()
		if p != nil {
			return p.placement
		}
	}
	return nil
}

func (s *plans) release() {
	s.mu.Lock()
	list := s.list
	s.list = nil
	s.mu.Unlock()
	for _, m := range list {
		m.end()
	}
}

// Marks of an input in a key.
const (
	isThere = 1
	leftOut = 0
)

// only returns m without the inputs that a key marks as left out, and with the values that it has for others as
// constants; and which of m's inputs are left.
func only(m *nnapi.Model, key []byte, values []int) (*nnapi.Model, []int) {
	out := *m
	out.Operands, out.Inputs = slices.Clone(m.Operands), nil
	var feeds []int
	marks, rest := key[:len(m.Inputs)], key[len(m.Inputs):]
	for i, v := range m.Inputs {
		o := &out.Operands[v]
		switch {
		case marks[i] == leftOut:
			o.Lifetime = nnapi.NoValue
		case slices.Contains(values, i):
			f, _ := o.Type.Facts()
			o.Lifetime, o.Data = nnapi.Constant, bytes.Clone(rest[:f.Bytes])
			rest = rest[f.Bytes:]
		default:
			out.Inputs, feeds = append(out.Inputs, v), append(feeds, i)
		}
	}
	return &out, feeds
}
