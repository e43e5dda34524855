package ohnn

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// operand is a tensor of a model of the API: a value of the graph, one that is only between operations, or a constant.
type operand struct {
	typ  tensor.Type
	data []byte // of a constant, nil: none
}

// parameter is a parameter of an operation.
type parameter struct {
	*spec.Param
	dims []int64
	data []byte
}

// operation is an operation of the API.
type operation struct {
	*spec.Rule
	in, out []*operand
	params  []parameter
}

// Reads and Makes implement driver.Operation.
func (o *operation) Reads() []*operand { return o.in }
func (o *operation) Makes() []*operand { return o.out }

// translation lowers nodes of a graph into operations of the API.
type translation struct {
	driver.Translation[*operand, *operation]
}

func newTranslation(g *graph.Graph) *translation {
	t := &translation{}
	t.Translation = driver.NewTranslation[*operand, *operation](g, driver.Hooks[*operand]{Operand: t.operand,
		Permuted: t.permuted, Permute: t.permute})
	return t
}

// node lowers one node. err says what stands against it, in which case nothing is added.
func (t *translation) node(i int) (err error) {
	name := graph.NameOf(t.G.Nodes[i].Op)
	lower := lowerings[name]
	if lower == nil {
		return refuse("OH_NN has no operator that computes %s as it is", name)
	}
	return t.Lower(i, takes, takes, func() error { return lower(t) })
}

// maxBytes bounds a tensor: the API makes none that is larger.
const maxBytes = 1 << 30

// takes says why a value is no tensor of the API, nil if it is one.
func takes(f tensor.Fact) error {
	dims, known := f.Shape.Ints()
	switch {
	case !known:
		return refuse("its sizes are open")
	case spec.DataTypeOf(f.DType) == spec.Unknown:
		return refuse("OH_NN has no data type %v", f.DType)
	case len(dims) > spec.MaxRank:
		return refuse("it has %d dimensions: OH_NN has at most %d", len(dims), spec.MaxRank)
	case len(dims) == 0 && f.Const == nil:
		return refuse("a tensor of OH_NN that is no constant has one dimension at least")
	case slices.ContainsFunc(dims, func(d int64) bool { return d < 1 || d > math.MaxInt32 }):
		return refuse("its sizes are %v: OH_NN has sizes of 1 and more", dims)
	}
	if n, ok := f.ByteSize(); !ok || n > maxBytes {
		return refuse("%v is larger than tensors of OH_NN are", f.Type)
	}
	if f.Const != nil && f.Const.Data == nil {
		return refuse("its constant is not there any more")
	}
	return takesQuant(f.Type, dims)
}

// takesQuant says why codes are not what the API has. Several scales belong to the first dimension if it is as long,
// else to the last that is.
func takesQuant(typ tensor.Type, dims []int64) error {
	q := typ.Quant
	switch {
	case q == nil:
		return nil
	case q.Block != 0:
		return refuse("it is quantized in blocks")
	case !typ.DType.IsInt():
		return refuse("codes of %v are none of OH_NN", typ.DType)
	case len(q.Scale) == 1:
		return nil
	}
	axis := 0
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] == int64(len(q.Scale)) && (axis == 0 || i == 0) {
			axis = i
		}
	}
	if axis != q.Axis {
		return refuse("its scales belong to dimension %d: in OH_NN they would to dimension %d", q.Axis, axis)
	}
	return nil
}

// operand makes the operand of a value.
func (t *translation) operand(v graph.Value) *operand {
	f := t.G.Fact(v)
	o := &operand{typ: f.Type}
	if f.Const != nil {
		o.data = f.Const.Data
	}
	return o
}

// fixed reports whether an operand is a constant.
func (o *operand) fixed() bool { return o.data != nil }

// Dims are the sizes of an operand.
func (o *operand) Dims() []int64 {
	dims, _ := o.typ.Shape.Ints()
	return dims
}

// Between is an operand of the type of another, in sizes of its own.
func (o *operand) Between(dims ...int64) *operand {
	typ := o.typ
	typ.Shape = tensor.Of(dims...)
	return &operand{typ: typ}
}

// list is a constant list of integers.
func list(v ...int64) *operand {
	out := make([]int32, len(v))
	for i, x := range v {
		out[i] = int32(x)
	}
	return &operand{tensor.T(tensor.Int32, int64(len(v))), tensor.Int32s(out...)}
}

// value of a parameter, by its name in the rule.
type setting struct {
	name string
	ints []int64
	real float32
}

func ints(name string, v ...int64) setting  { return setting{name: name, ints: v} }
func number(name string, v float32) setting { return setting{name: name, real: v} }
func flag(name string, v bool) setting {
	if v {
		return ints(name, 1)
	}
	return ints(name, 0)
}

// add adds an operation with parameters.
func (t *translation) add(name string, in, out []*operand, settings ...setting) {
	o := &operation{Rule: spec.Called(name), in: in, out: out}
	for _, s := range settings {
		o.params = append(o.params, s.of(o.Rule))
	}
	t.Ops = append(t.Ops, o)
}

// of is the parameter of a rule.
func (s setting) of(r *spec.Rule) parameter {
	p := *r.Param(s.name)
	switch {
	case p.Pad && len(s.ints) == 1:
		p = p.Mode()
	case p.Pad:
		p = p.List()
	}
	out := parameter{Param: &p}
	if p.DataType == spec.Float32 {
		out.data = tensor.Float32s(s.real)
	} else {
		for _, v := range s.ints {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], uint64(v))
			out.data = append(out.data, b[:p.DataType.Size()]...)
		}
	}
	if p.Elements != spec.Scalar {
		out.dims = []int64{int64(len(out.data)) / int64(p.DataType.Size())}
	}
	return out
}

// refuse returns the reason against a node.
func refuse(format string, args ...any) error { return fault.New(fault.Unsupported, format, args...) }
