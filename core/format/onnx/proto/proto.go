// Package proto reads the messages of ONNX models into plain structs: the wire format, the limits that guard against
// hostile files, the data of tensors, the order of nodes, and what the schemas say of the form of a node. The numbers
// of the wire format are those of the ONNX project's onnx.proto. Nothing here knows what an operator computes.
package proto

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Limits of a file's parts. They are far above any real model and keep a hostile one from taking memory or time.
const (
	MaxName  = 1 << 16 // bytes of a name or other string
	MaxRank  = 64
	maxDepth = 16      // graphs inside graphs
	MaxNodes = 1 << 17 // nodes of a model, all graphs and functions together
	maxAttrs = 1 << 10 // attributes of a node
	// memory of parts, and of the graph's copies of them, is asked for by so many
	partsAtOnce, partBytes = 1 << 10, 1 << 10

	// messages and names of a model, all together: two bytes of a file can make one, which takes hundreds in memory
	MaxParts = 1 << 20
)

// Model is ModelProto.
type Model struct {
	IRVersion int64
	Producer  string
	Graph     *Graph
	Opsets    map[string]int64 // domain ("" is ai.onnx) to version
	Functions []*Function
	Meta      map[string]string

	nodes int // counted against MaxNodes
	parts int // counted against MaxParts
}

// Count bounds the parts of a model.
func (m *Model) Count() error {
	if m.parts++; m.parts > MaxParts {
		return fault.New(fault.File, "model: more than %d nodes, tensors, values, attributes and names", MaxParts)
	}
	if m.parts%partsAtOnce == 0 {
		return fault.Wrap(mem.Admit(partsAtOnce*partBytes), "model: %d nodes, tensors, values, attributes and names", m.parts)
	}
	return nil
}

// Graph is GraphProto.
type Graph struct {
	Name   string
	Nodes  []*Node
	Inits  []*Tensor
	Sparse int // sparse initializers, which are refused
	In     []*ValueInfo
	Out    []*ValueInfo
	Values []*ValueInfo
}

// Node is NodeProto.
type Node struct {
	Name, OpType, Domain string
	Overload             string // which of several functions of one name
	In, Out              []string
	Attrs                map[string]*Attribute
	Index                int // position in the model, counted over its main graph

	reads []string // what Needs returns
}

// Attribute is AttributeProto.
type Attribute struct {
	Name, Ref string // Ref: the attribute of the enclosing function whose value this is
	Type      int64  // AttrFloat and so on; 0: the file does not say it
	F         float32
	I         int64
	S         []byte
	T         *Tensor
	G         *Graph
	Floats    []float32
	Ints      []int64
	Strings   [][]byte
	Graphs    []*Graph
}

// Tensor is TensorProto. Raw and the values of typed fields are views of the file or decoded numbers; exactly one is
// used.
type Tensor struct {
	Name     string
	Dims     []int64
	DType    int64 // TensorProto.DataType, see DTypeOf
	Raw      []byte
	HasRaw   bool
	Floats   []float32
	Ints     []int64 // int32_data, int64_data and uint64_data
	Doubles  []float64
	Strings  int
	External map[string]string
	Location int64 // 1: external
}

// ValueInfo is ValueInfoProto with a tensor type.
type ValueInfo struct {
	Name   string
	DType  int64 // 0: not a tensor or not known
	Kind   string
	Ranked bool
	Dims   []Dimension
}

// Dimension is a size or a name, or neither.
type Dimension struct {
	Value int64
	Known bool
	Param string
}

// Function is FunctionProto.
type Function struct {
	Name, Domain string
	Overload     string
	In, Out      []string
	Attrs        []string
	Defaults     map[string]*Attribute
	Nodes        []*Node
	Opsets       map[string]int64
}
