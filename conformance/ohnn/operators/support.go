package operators

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// A Kind is an element type of an operator's data, plain or quantized.
type Kind struct {
	Type      string
	Quantized bool
}

func (k Kind) String() string {
	if k.Quantized {
		return "quantized " + k.Type
	}
	return k.Type
}

// Kinds are the element types that data can have, in the order of the API's numbers; it quantizes to 8 bits only.
func Kinds() []Kind {
	var out []Kind
	for _, t := range []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
		"float32", "float64"} {
		out = append(out, Kind{Type: t})
	}
	return append(out, Kind{"int8", true}, Kind{"uint8", true})
}

// A Support is what a library computes of one operator.
type Support struct {
	Op      string
	Static  map[Kind]bool // models whose dimensions are all known
	Dynamic map[Kind]bool // models with an open dimension
}

// Judged returns, for every operator in the order of its number, the kinds of data in which a case compares its result
// with an expected value that is neither constant nor a copy of an input, unless it must be.
func Judged(cases []*Case) []Support {
	byOp := map[string]*Support{}
	var out []Support
	for op := range ohnn.Operators {
		byOp[op] = &Support{op, map[Kind]bool{}, map[Kind]bool{}}
	}
	for _, c := range cases {
		switch s := byOp[c.Op]; {
		case !c.judges(), c.mixed():
		case c.dynamic():
			s.Dynamic[c.kind()] = true
		case !c.open():
			s.Static[c.kind()] = true
		}
	}
	for _, s := range byOp {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(x, y Support) int { return cmp.Compare(ohnn.Operators[x.Op], ohnn.Operators[y.Op]) })
	return out
}

// Probe returns what the library computes of what cases judge. That something is missing from either side is an error
// that names it: a kind of data that the library computes and no case judges, or one that cases judge and the library
// does not compute right. Cases that have passed, as the suite computes each of them, are not computed.
func Probe(library string, cases []*Case, passed bool) ([]Support, error) {
	l, err := suite.Open(ohnn.API, library)
	if err != nil {
		return nil, err
	}
	byOp := map[string][]*Case{}
	for _, c := range cases {
		if c.Reject == nil && c.Of == "" && !c.mixed() {
			byOp[c.Op] = append(byOp[c.Op], c)
		}
	}
	table := Judged(cases)
	var wrong []string
	for _, s := range table {
		for _, k := range Kinds() {
			switch {
			case s.Static[k] != s.Dynamic[k]:
				wrong = append(wrong, fmt.Sprintf("%s %v: judged static: %t, dynamic: %t", s.Op, k, s.Static[k], s.Dynamic[k]))
			case !s.Static[k] && accepts(l, byOp[s.Op], k):
				wrong = append(wrong, fmt.Sprintf("%s %v: computed, and judged by no case", s.Op, k))
			case s.Static[k] && !passed:
				for _, c := range byOp[s.Op] {
					if err := judges(l, c, k); err != nil {
						wrong = append(wrong, fmt.Sprintf("%s: %v", c.ID(), err))
					}
				}
			}
		}
	}
	if wrong != nil {
		return nil, fmt.Errorf("the library and the cases do not agree:\n%s", joinLines(wrong))
	}
	return table, nil
}

func joinLines(lines []string) string {
	out := ""
	for _, l := range lines {
		out += "  " + l + "\n"
	}
	return out
}

func judges(l *suite.Library, c *Case, k Kind) error {
	if c.kind() != k {
		return nil
	}
	_, _, err := c.compute(l)
	return err
}

// accepts reports whether the library builds and runs one of the cases with its data in kind k.
func accepts(l *suite.Library, cases []*Case, k Kind) bool {
	const most = 8 // signatures that are tried
	tried := map[string]bool{}
	for _, c := range cases {
		if c.open() {
			continue
		}
		d := c.with(k)
		if s := d.Signature(); !tried[s] && len(tried) < most {
			tried[s] = true
			if computes(l, d) {
				return true
			}
		}
	}
	return false
}

func computes(l *suite.Library, c *Case) bool {
	probe := *c
	probe.Reject = &Reject{} // the result is not judged
	s := &model.Session{Library: l, Model: probe.model()}
	defer s.Close()
	_, err := probe.execute(s)
	return err == nil
}

// open reports whether the model leaves a dimension open anywhere.
func (c *Case) open() bool {
	return slices.ContainsFunc(c.Tensors, func(t model.Tensor) bool { return slices.Contains(t.Dims, -1) })
}

// dynamic reports whether the run decides a shape: an input has an open dimension, or an output has one and no input is
// constant.
func (c *Case) dynamic() bool {
	open := func(i uint32) bool { return slices.Contains(c.Tensors[i].Dims, -1) }
	fed := func(i uint32) bool { return c.Tensors[i].Feed != nil }
	return slices.ContainsFunc(c.In, open) ||
		slices.ContainsFunc(c.Out, open) && !slices.ContainsFunc(c.In, func(i uint32) bool { return !fed(i) })
}

// operands returns the inputs and outputs of the case's operation.
func (c *Case) operands() []uint32 { return append(slices.Clone(c.In), c.Out...) }

// carriers names the operand (inputs, then outputs) that carries an operator's data, for those where it is not the
// first.
var carriers = map[string]int{"WHERE": 1, "SELECT": 1, "ONE_HOT": 2, "SCATTER_ND": 1, "SPARSE_TO_DENSE": 1,
	"CONSTANT_OF_SHAPE": 1}

// others names the operands whose type does not go with that of the data: shapes, axes, indices, conditions and results
// that list them.
var others = map[string][]int{
	"CAST": {1, 2}, "EXPAND_DIMS": {1}, "FILL": {1}, "GATHER": {1, 2}, "ONE_HOT": {0, 1}, "PAD": {1}, "SLICE": {1, 2},
	"STRIDED_SLICE": {1, 2, 3},
	"TILE":          {1}, "TRANSPOSE": {1}, "RESHAPE": {1}, "REDUCE_MEAN": {1}, "REDUCE_SUM": {1}, "REDUCE_MAX": {1},
	"REDUCE_MIN": {1}, "REDUCE_PROD": {1},
	"REDUCE_L2": {1}, "REDUCE_ALL": {1, 2}, "ALL": {1, 2}, "TOP_K": {1, 3}, "CROP": {1}, "GATHER_ND": {1},
	"SCATTER_ND": {0, 2}, "SPARSE_TO_DENSE": {0, 2},
	"SHAPE": {1}, "RANK": {1}, "CONSTANT_OF_SHAPE": {0}, "WHERE": {0}, "SELECT": {0}, "EQUAL": {2}, "NOT_EQUAL": {2},
	"LESS": {2}, "LESS_EQUAL": {2},
	"GREATER": {2}, "GREATER_EQUAL": {2}, "LOGICAL_AND": {2}, "LOGICAL_OR": {2}, "LOGICAL_NOT": {1},
	"QUANT_DTYPE_CAST": {1}, "ASSERT": {1, 2},
}

// kind returns the element type that carries the case's data.
func (c *Case) kind() Kind {
	t := &c.Tensors[c.operands()[carriers[c.Op]]]
	return Kind{t.Type, t.Quant != nil}
}

// mixed reports whether two operands that carry data differ in their type: the case says nothing of either type.
func (c *Case) mixed() bool {
	from := c.kind()
	for p, i := range c.In {
		if !slices.Contains(others[c.Op], p) && c.Tensors[i].Type != from.Type && twoTypes[c.Op] {
			return true
		}
	}
	return false
}

// twoTypes lists the operators that take operands of two types and convert them.
var twoTypes = map[string]bool{
	"ADD": true, "SUB": true, "MUL": true, "DIV": true, "MAXIMUM": true, "MINIMUM": true, "MOD": true, "POW": true,
	"SQUARED_DIFFERENCE": true, "ELTWISE": true, "EQUAL": true,
	"NOT_EQUAL": true, "LESS": true, "LESS_EQUAL": true, "GREATER": true, "GREATER_EQUAL": true, "LOGICAL_AND": true,
	"LOGICAL_OR": true,
}

// with returns the case with kind k in the place of the one that carries the data.
func (c *Case) with(k Kind) *Case {
	from := c.kind()
	d := *c
	d.Tensors = slices.Clone(c.Tensors)
	for p, i := range c.operands() {
		x := &d.Tensors[i]
		if x.Type != from.Type || slices.Contains(others[c.Op], p) {
			continue
		}
		x.Type = k.Type
		switch {
		case !k.Quantized:
			x.Quant = nil
		case x.Quant == nil:
			x.Quant = &model.Quant{Scale: []float64{0.5}, Zero: []int32{0}}
		}
	}
	return &d
}
