package rknn

import (
	"strings"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/record"
)

// counted returns what takes note of a product in the size that is chosen for the report of `anynpu exec`, nil where
// there is none. m.mu is held.
func (m *Matmul) counted() func(time.Duration, error) {
	r := boundary.Recorder()
	if r == nil {
		return nil
	}
	if m.notes == nil {
		m.notes = make([]func(time.Duration, error), len(m.shapes))
	}
	if m.notes[m.current] == nil {
		m.notes[m.current] = r.Graph(m.recorded(m.shapes[m.current]))
	}
	return m.notes[m.current]
}

// recorded is a product as the report tells it.
func (m *Matmul) recorded(s MatmulShape) record.Graph {
	p := record.Product{M: int64(s.m), K: int64(s.k), N: int64(s.n), AC: "normal", B: "normal"}
	for i, t := range m.spec.types {
		p.Types[i] = strings.ToLower(strings.TrimPrefix(t.String(), "RKNN_TENSOR_"))
	}
	if m.spec.native {
		p.AC = "native"
	}
	switch m.spec.bLayout {
	case layoutNative:
		p.B = "native"
	case layoutTransposed:
		p.B = "transposed"
	}
	return record.Graph{Name: m.spec.name, Product: p, Devices: []record.Device{{Name: m.device}}}
}
