package lower

import (
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Operator is an operator that the importer knows.
type Operator struct {
	Domain string // "" is ai.onnx
	Name   string
	// Since is the opset version that gave the operator the definition that opset MinOpset has, or in which it is new.
	Since int64
	lower lowering // nil: package expand replaces the node
}

// Attributes are the attributes of the operator by name, each with its types in the versions that have it.
func (o *Operator) Attributes() map[string][]proto.AttributeSpan {
	return proto.AttributesOf()[o.key()]
}

// key is the operator's name, with its domain outside ai.onnx.
func (o *Operator) key() string { return (&proto.Node{Domain: o.Domain, OpType: o.Name}).Operator() }

// operatorKey is the domain and name of an operator.
type operatorKey struct{ domain, name string }

// lowering turns a node into operators; it sets every output that the model names.
type lowering func(n *node) error

// Options govern a lowering.
type Options struct {
	// Weights receives the constants.
	Weights *mem.Weights
	// Folder is where files of external data are looked up, and Path the model's file. Empty: there is none.
	Folder, Path string
	// Metadata is the model's description of itself.
	Metadata *metadata.Metadata
	// Nodes asks for Noted; Quantize and Fix are as in package onnx.
	Nodes, Quantize, Fix bool
}

// Nodes gives the nodes of graphs to the scopes that lower them: each after the makers of its inputs, with names that
// are different in the whole model, and what stands for other nodes replaced by those.
type Nodes interface {
	// Graph begins the body g of an instance, or with nil the main graph.
	Graph(g *proto.Graph, of *proto.Instance) (proto.Frame, error)
	// Nodes calls Begin, Check, Node and so on of sc for the nodes of the graph of f, in this order.
	Nodes(f proto.Frame, order []*proto.Node, sc *Scope) error
}

// Lowering is the part that all graphs of a model that is lowered have in common.
type Lowering struct {
	// Noted holds the model's notes on the nodes of its main graph, with Options.Nodes, in executable order.
	Noted []Noted
	// Coded is the number of values that are stored as codes.
	Coded int
	// Fixed are the inputs with sizes that the file leaves open, with Options.Fix, by name.
	Fixed map[string]Fixed

	src     *proto.Source
	opt     Options
	meta    *metadata.Metadata
	nodes   Nodes
	table   map[operatorKey]*Operator
	custom  *Operator           // what is in no domain that the table has
	used    map[string]bool     // entries of meta.Dims and meta.Values, the latter with a final dot
	old     int64               // the opset below MinOpset of a missing operator that later ones have
	missing map[string][]string // operator -> labels of the nodes that use it
	symbols map[string]uint32   // names of open dimensions
	sizes   map[string]int64    // those that inputs give them, with Options.Fix
	stored  map[*proto.Tensor]*stored
	top     proto.Frame // of the main graph
	main    *Scope      // of the main graph, when values are to be stored as the metadata say
}

// Scope is one graph under construction: its builder, and the values of its names, which are instances.
type Scope struct {
	m         *Lowering
	b         *graph.Builder
	values    map[proto.Name]graph.Value
	sequences map[proto.Name]bool          // names that stand for sequences
	inits     map[proto.Name]*proto.Tensor // initializers; they become values when they are first read as they are
	uses      map[string]int               // how often nodes and outputs read a name of the file, bodies included
	parent    *Scope                       // graph around a body; nil for the main graph
	blind     bool                         // nothing is said of the sizes of captured values
	// captured: values of the enclosing graph that a body uses, in the order of first use, with the body's own input for
	// each.
	captured []capture
	captures map[graph.Value]graph.Value // the same, by the value of the enclosing graph
}

type capture struct {
	outer, own graph.Value
}

// node is one ONNX node being lowered.
type node struct {
	*Scope
	p       *proto.Instance
	version int64         // of ai.onnx
	in      []graph.Value // None where absent
	out     []graph.Value // set by the lowering
	// The filter, when it is stored in the project's order of dimensions, and that order.
	stored      graph.Value
	storedOrder []int
}

// Noted holds a model's notes on one of its nodes, for those who replace it.
type Noted struct {
	Custom  *op.Custom    // domain, type and attributes
	Name    string        // may be empty
	Origin  int           // as in graph.Node
	In, Out []graph.Value // of the imported graph, None where absent
	// Filter is the constant of input 1, which is not a value of its own when it was stored with its dimensions in the
	// order FilterOrder; None for other nodes.
	Filter      graph.Value
	FilterOrder []int
}

// Fixed is an input whose open sizes were fixed while the model was read.
type Fixed struct {
	Shape  tensor.Shape // as the file declares it
	Opened bool         // the first size is 1 because nothing says another
}

// stored is a tensor of the file in the weight store.
type stored struct {
	perm []int
	typ  tensor.Type
	hash tensor.Hash
	data []byte
	err  error
}
