package onnx

import (
	"strings"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Model is an imported model.
type Model struct {
	Graph    *graph.Graph
	Opset    int64
	Producer string
	Symbols  []string           // names of open dimensions: Sym k of a dimension is Symbols[k-1]
	Nodes    []Node             // with Options.Nodes, in executable order
	Ops      []string           // operator of each node of the main graph, "domain.Type" outside ai.onnx; by Node.Origin
	Meta     *metadata.Metadata // what the model says of itself, with the file beside it
	Warnings []string           // what was understood otherwise than a strict reader would, one sentence each
	// With Options.Below: what the model's own metadata say otherwise, one sentence each.
	Overruled []string
	// Coded is the number of values that are computed as codes because the metadata say so.
	Coded int
	// Fixed, with Options.Fix, are the inputs with sizes that the file leaves open, by name.
	Fixed map[string]Fixed
}

// Options govern an import.
type Options struct {
	// Weights receives the constants; they live as long as it does.
	Weights *mem.Weights
	// Folder is where external data files are looked up; files outside it are refused. Empty: external data is refused.
	Folder string
	// Nodes asks for Model.Nodes.
	Nodes bool
	// Below gives metadata that hold where the model and the file beside it are silent, for its inputs and outputs.
	Below func(n *Names) map[string]string
	// Quantize has a float model compute with codes where anynpu.value.NAME.stored says so.
	Quantize bool
	// Fix gives inputs, and open dimensions of the same names elsewhere, the sizes of anynpu.input.NAME.shape, before
	// anything is made of them; an open first dimension without one becomes 1. Without effect on images, and where
	// anynpu.input.NAME.shapes lists several.
	Fix bool

	path string // of the model, empty for one in memory
}

// Node describes one of a model's nodes, for those who replace it.
type Node = lower.Noted

// Fixed is an input whose open sizes were fixed while the model was read.
type Fixed = lower.Fixed

// ShapeText returns sizes with the names that the model gives open ones.
func (m *Model) ShapeText(s tensor.Shape) string { return shapeText(s, m.Symbols) }

func shapeText(s tensor.Shape, symbols []string) string {
	if !s.Ranked {
		return "[...]"
	}
	return "[" + strings.Join(dimTexts(s, symbols), ",") + "]"
}

// dimTexts are the sizes of a shape whose rank is known, with names for open ones.
func dimTexts(s tensor.Shape, symbols []string) []string {
	parts := make([]string, len(s.Dims))
	for i, d := range s.Dims {
		parts[i] = d.String()
		if !d.Known() && d.Sym != tensor.Unknown && d.Sym > 0 && int(d.Sym) <= len(symbols) {
			parts[i] = symbols[d.Sym-1]
		}
	}
	return parts
}
