package ohnn

import (
	"fmt"
	"strings"
)

// Rule has the API's rules for an operator: how many inputs and outputs, which parameters. Rules that columns cannot
// express, such as ranks, are judged where operations are taken or made. Sources: docs/abi/ohnn.md, operators 1, 2 and
// 6.
type Rule struct {
	Op     OperationType
	Name   string // without OH_NN_OPS_
	In     Count
	Out    Count
	Params []Param
}

// RuleOf returns the rule of an operator, nil if the API has none of that number.
func RuleOf(o OperationType) *Rule {
	if o < 1 || int(o) > len(Rules) {
		return nil
	}
	return &Rules[o-1]
}

// Called returns the rule of the operator with a name, without OH_NN_OPS_; nil if there is none.
func Called(name string) *Rule { return byName[name] }

var byName = func() map[string]*Rule {
	m := make(map[string]*Rule, len(Rules))
	for i := range Rules {
		m[Rules[i].Name] = &Rules[i]
	}
	return m
}()

// Param returns the parameter of a name; nil if the operator has none.
func (r *Rule) Param(name string) *Param {
	for i := range r.Params {
		if r.Params[i].Name == name {
			return &r.Params[i]
		}
	}
	return nil
}

// ParamList is the C names of all parameters, separated by commas.
func (r *Rule) ParamList() string {
	var names []string
	for _, p := range r.Params {
		names = append(names, p.Number.String())
	}
	return strings.Join(names, ", ")
}

// Count is how many tensors an operator takes: from Lo to Hi.
type Count struct{ Lo, Hi int }

// Exactly is a count of n.
func Exactly(n int) Count { return Count{n, n} }

func atLeast(n int) Count { return Count{n, MaxIndices} }

// OK tells whether n are as many.
func (c Count) OK(n int) bool { return n >= c.Lo && n <= c.Hi }

// Of returns "1 input", "2 inputs" or "2 or more inputs".
func (c Count) Of(what string) string {
	switch {
	case c.Hi == 1:
		return "1 " + what
	case c.Lo == c.Hi:
		return fmt.Sprintf("%d %ss", c.Lo, what)
	}
	return fmt.Sprintf("%d or more %ss", c.Lo, what)
}

// Param is one parameter of an operator: a tensor whose type says which parameter it is.
type Param struct {
	Number   TensorType
	Alias    TensorType // another operator's enumerator that is accepted in its place; 0: none
	Name     string     // without OH_NN_ and the operator's name
	DataType DataType
	Also     DataType // a second data type the header promises, which upstream does not take; 0: none
	Elements Elements
	Hi       int64 // the largest value of an enumeration that begins with 0; 0: any value
	Required bool  // a model without it cannot be finished
	Pad      bool  // one element is a pad mode, four are a pad list, whichever enumerator is used
}

// Elements says how many elements a parameter tensor may have.
type Elements uint8

// Numbers of elements.
const (
	One         Elements = iota // exactly one, whatever the rank
	Scalar                      // rank 0
	First                       // not checked, the first one counts
	Any                         // not checked, all count
	Pair                        // two in rank 1
	PairOfPairs                 // four in rank 2
	Four                        // four, any rank
)

// Check judges a tensor of n elements in a rank.
func (e Elements) Check(n, rank int) error {
	ok, want := true, ""
	switch e {
	case One:
		ok, want = n == 1, "exactly 1 element"
	case Scalar:
		ok, want = rank == 0, "a scalar without dimensions"
	case Pair:
		ok, want = rank == 1 && n == 2, "one dimension of 2"
	case PairOfPairs:
		ok, want = rank == 2 && n == 4, "two dimensions of 2"
	case Four:
		ok, want = n == 4, "4 elements"
	}
	if !ok {
		return fmt.Errorf("want %s", want)
	}
	return nil
}

// Mode and List are the two meanings of a parameter with Pad set.
func (p Param) Mode() Param { return choice(p.Number, "PAD_MODE", Int8, 2) }

// List is the other one: top, bottom, left, right.
func (p Param) List() Param { return i64s(p.Number, "PAD").of(Four) }

// Parameters by data type; all optional, exactly one element, any value.
func i64(n TensorType, name string) Param  { return Param{Number: n, Name: name, DataType: Int64} }
func f32(n TensorType, name string) Param  { return Param{Number: n, Name: name, DataType: Float32} }
func flag(n TensorType, name string) Param { return Param{Number: n, Name: name, DataType: Bool} }

// i64s and f32s are lists whose length only the device judges.
func i64s(n TensorType, name string) Param { return i64(n, name).of(Any) }
func f32s(n TensorType, name string) Param { return f32(n, name).of(Any) }

// fuse is a fused activation: OH_NN_FuseType.
func fuse(n TensorType, name string) Param { return choice(n, name, Int8, FusedReLU6) }

// choice is an enumerated value of 0 to hi.
func choice(n TensorType, name string, d DataType, hi int64) Param {
	return Param{Number: n, Name: name, DataType: d, Hi: hi}
}

// padMode and padList share one meaning by their element count.
func padMode(n TensorType) Param { return Param{Number: n, Name: "PAD_MODE", Pad: true} }
func padList(n TensorType) Param { return Param{Number: n, Name: "PAD", Pad: true} }

// first lets any element count pass; the first element is the value.
func (p Param) first() Param { return p.of(First) }

// of sets the rule for the element count.
func (p Param) of(e Elements) Param { p.Elements = e; return p }

// must makes the parameter required.
func (p Param) must() Param { p.Required = true; return p }

// or accepts another operator's enumerator with the same meaning.
func (p Param) or(n TensorType) Param { p.Alias = n; return p }

// unaryRule is the rule of an operator with one input, one output and no parameter.
func unaryRule(op OperationType, name string) Rule {
	return Rule{op, name, Exactly(1), Exactly(1), nil}
}

// binaryRule is the rule of an operator with two inputs, one output and no parameter.
func binaryRule(op OperationType, name string) Rule {
	return Rule{op, name, Exactly(2), Exactly(1), nil}
}

// reduction is the rule of the REDUCE family, whose axes are the second input.
func reduction(op OperationType, name string, keepDims, toEnd, coeff TensorType) Rule {
	return Rule{op, name, Exactly(2), Exactly(1), []Param{flag(keepDims, "KEEP_DIMS"), flag(toEnd, "REDUCE_TO_END"),
		f32(coeff, "COEFF")}}
}
