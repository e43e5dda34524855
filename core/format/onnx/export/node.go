package export

import (
	"reflect"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// node is a node of the graph that is exported.
type node struct {
	*scope
	n     *graph.Node
	begin int             // of list: the node's own begin there
	named map[string]bool // names of outputs that have been made
	err   error           // the first of a quantization
}

// rule exports the nodes of one operator.
type rule struct {
	op     reflect.Type
	export func(n *node) error
}

// on is the rule of operator O.
func on[O graph.Op](f func(n *node, o O) error) rule {
	return rule{reflect.TypeFor[O](), func(n *node) error { return f(n, n.n.Op.(O)) }}
}

func (n *node) fail(err error) {
	if n.err == nil {
		n.err = err
	}
}

// refuse is the error for operators that ONNX lacks.
func refuse(format string, args ...any) error { return fault.New(fault.Unsupported, format, args...) }

// number is a constant of one element of a type, without dimensions; see list1.
func (n *node) number(d tensor.DType, x float64) string { return n.list1(d, nil, x) }

// list1 is a constant of a type and sizes. A value whose type is not known cannot have one.
func (n *node) list1(d tensor.DType, dims []int64, x ...float64) string {
	if !d.Valid() {
		n.fail(refuse("the element type of a value is not known"))
		return ""
	}
	return n.scope.list1(d, dims, x...)
}

// has reports whether input i is given.
func (n *node) has(i int) bool { return i < len(n.n.In) && n.n.In[i] != graph.None }

// fact returns the known facts of input i.
func (n *node) fact(i int) tensor.Fact {
	if !n.has(i) {
		return tensor.Fact{}
	}
	return n.g.Fact(n.n.In[i])
}

// made returns the known facts of output k.
func (n *node) made(k int) tensor.Fact {
	if k >= len(n.n.Out) || n.n.Out[k] == graph.None {
		return tensor.Fact{}
	}
	return n.g.Fact(n.n.Out[k])
}

// wants reports whether the node has output k.
func (n *node) wants(k int) bool { return k < len(n.n.Out) && n.n.Out[k] != graph.None }

// code is input i as it is stored, "" where it is absent.
func (n *node) code(i int) string {
	if !n.has(i) {
		return ""
	}
	return n.value(n.n.In[i])
}

// codes are all inputs as they are stored.
func (n *node) codes() []string {
	in := make([]string, len(n.n.In))
	for i := range in {
		in[i] = n.code(i)
	}
	return in
}

// rank is the number of dimensions of input i, an error where it is not known.
func (n *node) rank(i int) (int, error) {
	if r := n.fact(i).Shape.Rank(); r >= 0 {
		return r, nil
	}
	return 0, refuse("input %d: its number of dimensions is not known", i)
}

// sizes are the dimensions of input i, an error where one is not known.
func (n *node) sizes(i int) ([]int64, error) {
	if d, ok := n.fact(i).Shape.Ints(); ok {
		return d, nil
	}
	return nil, refuse("input %d: its sizes are not known: %v", i, n.fact(i).Shape)
}

// known are the integers of input i, which ONNX has as an attribute.
func (n *node) known(i int, what string) ([]int64, error) {
	if v, ok := n.fact(i).KnownInts(); ok {
		return v, nil
	}
	return nil, refuse("input %d: ONNX has %s as a constant", i, what)
}

// vector is input i as a list of int64.
func (n *node) vector(i int) string {
	if !n.has(i) {
		return ""
	}
	f := n.fact(i)
	if v, ok := f.KnownInts(); ok && (f.Const == nil || f.DType != tensor.Int64 || f.Shape.Rank() != 1) {
		return n.ints(v...)
	}
	v := n.code(i)
	if f.DType != tensor.Int64 {
		v = n.cast(v, tensor.Int64)
	}
	if f.Shape.Rank() != 1 {
		v = n.one("Reshape", []string{v, n.ints(-1)})
	}
	return v
}

// scalar is input i as one int64 without dimensions.
func (n *node) scalar(i int) string {
	if !n.has(i) {
		return ""
	}
	f := n.fact(i)
	if v, ok := f.KnownInts(); ok && len(v) == 1 {
		return n.int(v[0])
	}
	return n.reshape(n.cast(n.code(i), tensor.Int64))
}

// cast converts a value.
func (n *node) cast(v string, to tensor.DType) string {
	if elementNumber(to) == 0 { // a field that Infer does not look at
		n.fail(refuse("a conversion to the type %v", to))
	}
	return n.one("Cast", []string{v}, elementType("to", to))
}

// reshape gives a value other dimensions.
func (n *node) reshape(v string, dims ...int64) string {
	if slices.Contains(dims, 0) {
		return n.one("Reshape", []string{v, n.ints(dims...)}, number("allowzero", 1))
	}
	return n.one("Reshape", []string{v, n.ints(dims...)})
}

// transpose permutes the dimensions of a value.
func (n *node) transpose(v string, perm ...int64) string {
	for i, p := range perm {
		if int64(i) != p {
			return n.one("Transpose", []string{v}, numbers("perm", perm...))
		}
	}
	return v
}
