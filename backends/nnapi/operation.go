package nnapi

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// operand is an operand of a model of the API: a value of the graph, one that is only between operations, or a
// constant.
type operand struct {
	code spec.OperandCode
	typ  tensor.Type // of a scalar: of no dimensions
	data []byte      // of a constant, nil: none
	fuse bool        // the constant that fuses an activation, so far none
	none bool        // an argument that is left out
	sub  *spec.Model // of an operand that refers to a model
	most []int64     // the largest sizes of a result whose sizes are open
}

// operation is an operation of the API. Its arguments are operands, parameters among them.
type operation struct {
	code    spec.OperationCode
	in, out []*operand
}

// Reads and Makes implement driver.Operation.
func (o *operation) Reads() []*operand { return o.in }
func (o *operation) Makes() []*operand { return o.out }

// translation lowers nodes of a graph into operations of a feature level.
type translation struct {
	driver.Translation[*operand, *operation]
	level   spec.FeatureLevel
	refused error // what stands against a value of the node
	folds   bool  // what is made of constants alone becomes a constant, if it is no result of the graph
}

func newTranslation(g *graph.Graph, level spec.FeatureLevel) *translation {
	t := &translation{level: level}
	t.Translation = driver.NewTranslation[*operand, *operation](g, driver.Hooks[*operand]{Operand: t.operand,
		Permuted: t.permuted, Permute: t.permute})
	return t
}

// lowerings holds, by the name of a core operator, how a node becomes operations: each returns what stands against it.
var lowerings = map[string]func(t *translation) error{}

func register(m map[string]func(t *translation) error) {
	for name, f := range m {
		lowerings[name] = f
	}
}

// node lowers one node. err says what stands against it, in which case nothing is added.
func (t *translation) node(i int) (err error) {
	name, before := graph.NameOf(t.G.Nodes[i].Op), len(t.Ops)
	lower := lowerings[name]
	if lower == nil {
		return refuse("NNAPI has no operation that computes %s as it is", name)
	}
	t.refused = nil
	made := driver.Takes(takes)
	if finds[name] {
		made = makes
	}
	return t.Lower(i, takes, made, func() error {
		err := lower(t)
		if err == nil {
			err = t.refused
		}
		for _, o := range t.Ops[before:] {
			if err == nil {
				err = t.judge(o)
			}
		}
		return err
	})
}

// judge says what the signature of an operation has against its operands at the feature level.
func (t *translation) judge(o *operation) error {
	m := describe([]*operation{o}, nil, nil)
	err := spec.Check(m, m.Operations[0], t.level)
	if err == nil {
		err = spec.CheckParameters(m, m.Operations[0])
	}
	if err != nil {
		return refuse("%v", err)
	}
	return nil
}

// takes says why a value is no tensor of the API, nil if it is one.
func takes(f tensor.Fact) error {
	dims, known := f.Shape.Ints()
	switch {
	case !known:
		return refuse("its sizes are open")
	case slices.ContainsFunc(dims, func(d int64) bool { return d < 1 || d > math.MaxInt32 }):
		return refuse("its sizes are %v: operands of NNAPI have sizes of 1 and more", dims)
	case f.Const != nil && f.Const.Data == nil:
		return refuse("its constant is not there any more")
	case isList(f):
		return nil
	}
	if n, ok := f.ByteSize(); !ok || n > math.MaxUint32 {
		return refuse("%v is larger than operands of NNAPI are", f.Type)
	}
	_, err := codeOf(f.Type)
	return err
}

// isList reports whether a value is a constant of int64, which are lists, axes and indices, or a single one of another
// type of integers. The API has them as int32.
func isList(f tensor.Fact) bool {
	if f.Const == nil || f.Quant != nil || !f.DType.IsInt() || f.DType == tensor.Int32 {
		return false
	}
	n, ok := f.Shape.Count()
	return f.DType == tensor.Int64 || ok && n == 1
}

// codeOf is the type of the API's tensors for core's; err says why there is none.
func codeOf(typ tensor.Type) (code spec.OperandCode, err error) {
	if q := typ.Quant; q != nil {
		switch {
		case q.Block != 0:
			return 0, refuse("it is quantized in blocks")
		case !q.IsPerTensor():
			for i := range q.Scale {
				if typ.DType != tensor.Int8 || q.ZeroAt(i) != 0 {
					return 0, refuse("NNAPI has several scales for int8 with zero point 0 alone")
				}
			}
			return spec.TensorQuant8SymmPerChannel, nil
		case typ.DType == tensor.Int16 && q.ZeroAt(0) != 0:
			return 0, refuse("NNAPI has int16 with zero point 0 alone")
		}
		code, ok := map[tensor.DType]spec.OperandCode{tensor.Uint8: spec.TensorQuant8Asymm,
			tensor.Int8: spec.TensorQuant8AsymmSigned, tensor.Uint16: spec.TensorQuant16Asymm,
			tensor.Int16: spec.TensorQuant16Symm, tensor.Int32: spec.TensorInt32}[typ.DType]
		if !ok {
			return 0, refuse("codes of %v are none of NNAPI", typ.DType)
		}
		return code, nil
	}
	code, ok := map[tensor.DType]spec.OperandCode{tensor.Float32: spec.TensorFloat32,
		tensor.Float16: spec.TensorFloat16, tensor.Int32: spec.TensorInt32, tensor.Bool: spec.TensorBool8}[typ.DType]
	if !ok {
		return 0, refuse("NNAPI has no tensors of %v", typ.DType)
	}
	return code, nil
}

// operand makes the operand of a value. A value without dimensions has one of size 1 in the API.
func (t *translation) operand(v graph.Value) *operand {
	f := t.G.Fact(v)
	o := &operand{typ: f.Type}
	if f.Const != nil {
		o.data = f.Const.Data
	}
	if isList(f) {
		list, _ := f.KnownInts()
		whole := make([]int32, len(list))
		for i, x := range list {
			if whole[i] = int32(x); int64(whole[i]) != x {
				t.refused = refuse("%d is no int32, and NNAPI has no other integers", x)
			}
		}
		o.typ.DType, o.data = tensor.Int32, tensor.Int32s(whole...)
	}
	if f.Shape.Rank() == 0 {
		o.typ.Shape = tensor.Of(1)
	}
	var err error
	if o.code, err = codeOf(o.typ); err != nil {
		t.refused = err
	}
	return o
}

// fixed reports whether an operand is no value: a constant, an argument that is left out, or a model.
func (o *operand) fixed() bool { return o.data != nil || o.none || o.sub != nil }

// Dims are the sizes of an operand.
func (o *operand) Dims() []int64 {
	dims, _ := o.typ.Shape.Ints()
	return dims
}

// Between is an operand of the type of another, in sizes of its own.
func (o *operand) Between(dims ...int64) *operand {
	typ := o.typ
	typ.Shape = tensor.Of(dims...)
	return &operand{code: o.code, typ: typ}
}

// list is a constant list of integers.
func list(v ...int64) *operand {
	out := make([]int32, len(v))
	for i, x := range v {
		out[i] = int32(x)
	}
	return &operand{code: spec.TensorInt32, typ: tensor.T(tensor.Int32, int64(len(v))), data: tensor.Int32s(out...)}
}

// int32Scalar, boolScalar and floatScalar are constant scalars; floatScalar has the element type of an operand.
func int32Scalar(v int64) *operand {
	return &operand{code: spec.Int32, typ: tensor.T(tensor.Int32), data: tensor.Int32s(int32(v))}
}

func boolScalar(v bool) *operand {
	o := &operand{code: spec.Bool, typ: tensor.T(tensor.Bool), data: []byte{0}}
	if v {
		o.data[0] = 1
	}
	return o
}

func floatScalar(v float32, like *operand) *operand {
	code := spec.Float32
	if like.typ.DType == tensor.Float16 {
		code = spec.Float16
	}
	x := tensor.New(code.DType(), 1)
	tensor.PutFloat(code.DType(), x.Data, 0, float64(v), false)
	return &operand{code: code, typ: tensor.T(code.DType()), data: x.Data}
}

// constant is a tensor of one element of the type of another.
func constant(v float32, like *operand) *operand {
	o := floatScalar(v, like)
	return &operand{code: like.code, typ: tensor.T(o.typ.DType, 1), data: o.data}
}

// unfused is the argument of an operation that may fuse an activation.
func unfused() *operand {
	o := int32Scalar(spec.FusedNone)
	o.fuse = true
	return o
}

// add adds an operation with one result.
func (t *translation) add(code spec.OperationCode, out *operand, in ...*operand) {
	t.Ops = append(t.Ops, &operation{code, in, []*operand{out}})
}

// describe is the model of operations. Operands are numbered as they come: inputs, then by operation.
func describe(ops []*operation, in, out []*operand) *spec.Model {
	m, index := &spec.Model{}, map[*operand]uint32{}
	number := func(list []*operand) []uint32 {
		numbers := make([]uint32, len(list))
		for i, o := range list {
			at, known := index[o]
			if !known {
				at = uint32(len(m.Operands))
				index[o] = at
				m.Operands = append(m.Operands, o.described())
			}
			numbers[i] = at
		}
		return numbers
	}
	m.Inputs = number(in)
	for _, o := range ops {
		m.Operations = append(m.Operations, spec.Operation{Code: o.code, Inputs: number(o.in), Outputs: number(o.out)})
	}
	m.Outputs = number(out)
	for _, i := range m.Inputs {
		m.Operands[i].Lifetime = spec.Input
	}
	for _, i := range m.Outputs {
		m.Operands[i].Lifetime = spec.Output
	}
	return m
}

// described is an operand as the API describes it.
func (o *operand) described() spec.Operand {
	out := spec.Operand{Type: o.code}
	for _, d := range o.typ.Shape.Dims {
		out.Dims = append(out.Dims, uint32(d.N)) // 0 of one that is open
	}
	switch {
	case o.none:
		out.Lifetime = spec.NoValue
	case o.sub != nil:
		out.Lifetime, out.Sub = spec.Subgraph, o.sub
	case o.data != nil:
		out.Lifetime, out.Data = spec.Constant, o.data
	}
	if q := o.typ.Quant; q != nil && o.code == spec.TensorQuant8SymmPerChannel {
		out.Channel = &spec.PerChannel{Dim: uint32(q.Axis), Scales: slices.Clone(q.Scale)}
	} else if q != nil {
		out.Scale, out.ZeroPoint = q.Scale[0], q.ZeroAt(0)
	}
	return out
}

// refuse returns the reason against a node.
func refuse(format string, args ...any) error { return fault.New(fault.Unsupported, format, args...) }
