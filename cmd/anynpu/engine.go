package main

import (
	"io"

	"github.com/anynpu/anynpu/internal/profile"
)

// engineShare is how much of a model ran on fast kernels.
type engineShare struct {
	Nodes          int         `json:"nodes"` // without those whose result is known before the run
	FastNodes      int         `json:"fast_nodes"`
	GFLOP          float64     `json:"gflop"`
	FastGFLOP      float64     `json:"fast_gflop"`
	NodePercent    float64     `json:"node_percent"`
	Elements       int64       `json:"elements"` // computed, moved or compared
	FastElements   int64       `json:"fast_elements"`
	ElementPercent float64     `json:"element_percent"`
	FLOPPercent    float64     `json:"flop_percent"`
	Slow           []slowNodes `json:"slow"` // by operator
}

// slowNodes are nodes of one kind without a fast kernel.
type slowNodes struct {
	Op       string  `json:"op"`
	Nodes    int     `json:"nodes"`
	GFLOP    float64 `json:"gflop"`
	Elements int64   `json:"elements"`
}

// share runs the model at path once. Warnings of loading it have been told.
func (f *measureFlags) share(path string, on *machine, stderr io.Writer) (*engineShare, error) {
	m, err := f.ready(path, on, true, io.Discard, stderr)
	if err != nil {
		return nil, err
	}
	defer m.close()
	nodes, _, err := m.profiled(1)
	if err != nil {
		return nil, err
	}
	s := profile.ShareOf(nodes)
	e := &engineShare{Nodes: s.Nodes, FastNodes: s.FastNodes, GFLOP: 1e-9 * float64(s.FLOPs),
		FastGFLOP:   1e-9 * float64(s.FastFLOPs),
		NodePercent: s.NodePercent(), FLOPPercent: s.FLOPPercent(), Elements: s.Elements, FastElements: s.FastElements,
		ElementPercent: s.ElementPercent(), Slow: []slowNodes{}}
	index := map[string]int{}
	for i := range s.Slow {
		op := s.Slow[i].OpText()
		at, known := index[op]
		if !known {
			at = len(e.Slow)
			index[op] = at
			e.Slow = append(e.Slow, slowNodes{Op: op})
		}
		e.Slow[at].Nodes++
		e.Slow[at].GFLOP += 1e-9 * float64(s.Slow[i].FLOPs)
		e.Slow[at].Elements += s.Slow[i].Elements
	}
	return e, nil
}

func (e *engineShare) write(w io.Writer, path string) {
	printf(w, "%s: fast kernels compute %d of %d nodes (%.1f %%), %.2f %% of %.4g GFLOP and %.2f %% of %.4g "+
		"million elements", path, e.FastNodes, e.Nodes, e.NodePercent, e.FLOPPercent, e.GFLOP, e.ElementPercent,
		1e-6*float64(e.Elements))
	for i, s := range e.Slow {
		sep := ", "
		if i == 0 {
			sep = "; not: "
		}
		printf(w, "%s%d %s", sep, s.Nodes, s.Op)
	}
	printf(w, "\n")
}
