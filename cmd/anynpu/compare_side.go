package main

import (
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/layers"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	inputFlags
	devices []string
	threads int
	golden  string
	html    string
	bisect  string
	limit   float64
	layers  bool
	json    bool
}

// side is a model and what computes it.
type side struct {
	layers.Side
	m    *loaded
	on   *machine
	text string // the device and the file
}

func (s *side) close() {
	s.m.weights.Release()
	s.on.close()
}

// portsOf describes the inputs of a graph as a session would.
func portsOf(g *graph.Graph) []device.Port {
	ports := make([]device.Port, len(g.In))
	for i, v := range g.In {
		ports[i] = device.Port{Name: g.Values[v].Name, Type: g.Fact(v).Type}
	}
	return ports
}

// sized returns a side's graph with the sizes that the inputs have.
func sized(g *graph.Graph, in []tensor.Tensor) (*graph.Graph, error) {
	s := g.WithInputs(in)
	return s, s.Infer()
}
