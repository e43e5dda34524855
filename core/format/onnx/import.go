// Package onnx reads ONNX models (ai.onnx opsets 7 to 28) into graphs of core/op, and tells what is in a model without
// lowering it. An import joins three packages: proto reads the bytes, expand replaces nodes that stand for others, and
// lower makes the graph. The changes by a model's metadata are here: its inputs and outputs, and filters of codes.
package onnx

import (
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/expand"
	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// The opset versions of ai.onnx whose definitions are read as they are; those before it are read as lower has them.
const (
	MinOpset = lower.MinOpset
	MaxOpset = lower.MaxOpset
)

// Recognize reports whether data looks like an ONNX model: a protobuf message that begins with fields of ModelProto.
func Recognize(data []byte) bool {
	seen := 0
	known := map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 14: true, 20: true,
		25: true, 26: true}
	for off := 0; off < len(data) && seen < 3; seen++ {
		num, n := tagAt(data[off:])
		if n < 0 || !known[num] {
			return false
		}
		if num == 7 { // the graph may be cut off by a truncated file; what stands before it decides
			return true
		}
		off += n
	}
	return seen > 0
}

// tagAt returns the number of the field at the start of b and the length of the whole field, n < 0 when there is none.
func tagAt(b []byte) (num, n int) {
	k, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return 0, n
	}
	if k == 7 && typ == protowire.BytesType {
		return 7, n
	}
	m := protowire.ConsumeFieldValue(k, typ, b[n:])
	if m < 0 {
		return 0, m
	}
	return int(k), n + m
}

// ImportFile reads the model in the file at path. The file is mapped only while it is read: replacing or truncating it
// later has no effect on the model. Truncation while it is read gives an error.
func ImportFile(path string, o Options) (*Model, error) {
	if o.Folder == "" {
		o.Folder = filepath.Dir(path)
	}
	o.path = path
	src, err := proto.OpenFile(path)
	if err != nil {
		return nil, fault.Wrap(err, "model %s", path)
	}
	defer src.Close()
	m, err := importModel(src, o)
	return m, fault.Wrap(err, "model %s", path)
}

// Import reads the model in data, which is not kept.
func Import(data []byte, o Options) (*Model, error) {
	return importModel(&proto.Source{Data: data}, o)
}

func importModel(src *proto.Source, o Options) (*Model, error) {
	if o.Weights == nil {
		return nil, fault.New(fault.Argument, "no weight store for the model's constants")
	}
	p, err := proto.Parse(src.Data)
	if err != nil {
		return nil, err
	}
	version, ok := p.Opsets[""]
	if !ok {
		version = 1
	}
	if len(p.Opsets) == 0 && p.IRVersion >= 3 {
		return nil, fault.New(fault.File, "the model names no opset, as it must from IR version 3 on; it is of version %d",
			p.IRVersion)
	}
	if version < 1 || version > MaxOpset {
		return nil, fault.New(fault.Unsupported, "opset %d of ai.onnx; versions 1 to %d are read, to which "+
			"onnx.version_converter converts a model", version, MaxOpset)
	}
	var below map[string]string
	var overruled []string
	if o.Below != nil {
		own, err := metadata.Merged(p.Meta, o.path)
		if err != nil {
			return nil, err
		}
		below = o.Below(namesOf(p, own))
		overruled = overrules(own, below)
	}
	meta, err := metadata.ReadOver(below, p.Meta, o.path)
	if err != nil {
		return nil, err
	}
	if err := cut(p, meta); err != nil {
		return nil, err
	}
	nodes := &nodes{expand.New(p.Functions), version}
	m := lower.New(src, nodes, lower.Options{Weights: o.Weights, Folder: o.Folder, Path: o.path, Metadata: meta,
		Nodes: o.Nodes, Quantize: o.Quantize, Fix: o.Fix})
	g, err := m.Graph(p.Graph)
	if err != nil {
		return nil, err
	}
	if m.Coded > 0 {
		if err := encodeFilters(g, o.Weights, meta); err != nil {
			return nil, err
		}
	}
	g.Meta = p.Meta
	meta.Warnings = append(meta.Warnings, m.Strangers(g)...)
	return &Model{Graph: g, Opset: version, Producer: p.Producer, Symbols: m.Symbols(), Nodes: m.Noted,
		Ops: p.Graph.Operators(), Meta: meta, Overruled: overruled, Coded: m.Coded, Fixed: m.Fixed}, nil
}

// nodes gives the nodes of a model to those who lower them.
type nodes struct {
	*expand.Expander
	version int64
}

func (n *nodes) Graph(g *proto.Graph, of *proto.Instance) (proto.Frame, error) {
	return n.Expander.Graph(g, of, n.version)
}

func (n *nodes) Nodes(f proto.Frame, order []*proto.Node, sc *lower.Scope) error {
	return n.Expander.Nodes(f, order, sc)
}
