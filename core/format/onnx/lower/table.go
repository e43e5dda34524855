// Package lower makes graphs of core/op of the nodes of a model. It takes nodes of package proto in the order in which
// they can be computed, with names that are different in the whole model; functions and sequences have been replaced
// before. Interface Nodes is where they come from: a body is lowered while its node is, and its nodes are replaced by
// the facts known by then, so lowering asks for them and does not import who replaces them.
//
// One table has the operators, a row each: Operators. A row has the domain, the name, the opset version of the
// definition and the function that lowers it, and leads to the attributes. Rows stand in the files of their families,
// beside those functions.
package lower

import (
	"slices"
	"sync"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// sequenceOperators make and read sequences.
var sequenceOperators = []Operator{
	{"", "ConcatFromSequence", 11, nil},
	{"", "SequenceAt", 11, nil},
	{"", "SequenceConstruct", 11, nil},
	{"", "SequenceEmpty", 11, nil},
	{"", "SequenceErase", 11, nil},
	{"", "SequenceInsert", 11, nil},
	{"", "SequenceLength", 11, nil},
	{"", "SequenceMap", 17, nil},
	{"", "SplitToSequence", 11, nil},
}

// Operators lists the operators that the importer knows.
func Operators() []Operator {
	return slices.Concat(plainOperators(), elementwiseOperators, shapeOperators, reduceOperators, spatialOperators,
		resizeOperators, regionOperators, normOperators, lossOperators, rnnOperators, attentionOperators, cacheOperators,
		quantOperators, signalOperators, tfidfOperators, controlOperators, ifOperators, sequenceOperators, optionalOperators,
		previewOperators,
		msQLinearOperators, msFusedOperators, msNormOperators, msIntegerOperators, msAttentionOperators)
}

// table has the operators by domain and name.
var table = sync.OnceValue(func() map[operatorKey]*Operator {
	rows := map[operatorKey]*Operator{}
	for _, o := range Operators() {
		rows[operatorKey{o.Domain, o.Name}] = &o
	}
	return rows
})

// New returns what is needed to lower a model that was read from src, whose nodes come from nodes.
func New(src *proto.Source, nodes Nodes, o Options) *Lowering {
	return &Lowering{src: src, opt: o, meta: o.Metadata, nodes: nodes, table: table(),
		custom: &Operator{lower: lowerCustom}, missing: map[string][]string{}, symbols: map[string]uint32{},
		used:   map[string]bool{},
		stored: map[*proto.Tensor]*stored{}}
}
