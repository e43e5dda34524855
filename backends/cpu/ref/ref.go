// Package ref is the reference device's arithmetic: one plain kernel per operator, written for reading. It is the
// executable specification and the oracle of every faster kernel; nothing in it is fast.
package ref

import (
	"context"
	"fmt"
	"reflect"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Kernel computes one node. in are the inputs (Absent where not given); out are the inferred output types, all sizes
// known unless the operator's output shape depends on data. It returns new tensors and never writes or keeps its
// inputs.
type Kernel func(o graph.Op, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error)

// Domain says which element types a kernel computes by itself; for the others Compute wraps it (see Compute).
type Domain uint8

// The domains.
const (
	// Real: the kernel computes on float32 (and float64) and any plain integers it wants. Floats below 32 bits and
	// quantized tensors are converted to float32 before and rounded to the output type after.
	Real Domain = iota
	// Bits: the kernel moves elements without looking at them, for any type. When a quantized output differs from the
	// quantized data input in its parameters, Compute requantizes through float32.
	Bits
	// Native: the kernel sees the tensors as they are and handles quantization and float16 itself.
	Native
	// Judging, or'ed to one of the others: the kernel refuses values of its inputs also where no output has elements.
	Judging Domain = 1 << 7
)

type entry struct {
	domain  Domain // without Judging
	judges  bool
	kernel  Kernel
	control controlKernel // set instead of kernel for operators with bodies
}

// controlKernel is a Kernel of the Native domain that runs bodies and gives up when ctx ends.
type controlKernel func(ctx context.Context, o graph.Op, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error)

var kernels = map[reflect.Type]entry{}

// register binds the kernel of operator type O, e.g. register(Real, func(o *op.Add, in []tensor.Tensor, out
// []tensor.Type) ...).
func register[O graph.Op](d Domain, k func(o O, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error)) {
	t := reflect.TypeFor[O]()
	if _, taken := kernels[t]; taken {
		panic(fmt.Sprintf("ref: two kernels for %v", t))
	}
	kernels[t] = entry{domain: d &^ Judging, judges: d&Judging != 0, kernel: func(o graph.Op, in []tensor.Tensor,
		out []tensor.Type) ([]tensor.Tensor, error) {
		return k(o.(O), in, out)
	}}
}

// registerControl binds the kernel of an operator with bodies.
func registerControl[O graph.Control](k func(ctx context.Context, o O, in []tensor.Tensor,
	out []tensor.Type) ([]tensor.Tensor, error)) {
	t := reflect.TypeFor[O]()
	if _, taken := kernels[t]; taken {
		panic(fmt.Sprintf("ref: two kernels for %v", t))
	}
	kernels[t] = entry{control: func(ctx context.Context, o graph.Op, in []tensor.Tensor,
		out []tensor.Type) ([]tensor.Tensor, error) {
		return k(ctx, o.(O), in, out)
	}}
}

// Has reports whether there is a kernel for the operator.
func Has(o graph.Op) bool {
	_, ok := kernels[reflect.TypeOf(o)]
	return ok
}

// maxElements bounds the number of elements of one output. It is no constant for the sake of tests.
var maxElements int64 = 1 << 31

// Compute runs one operator on real tensors: it infers the output types from the inputs' types and small integer values
// and declared, then calls the kernel, converting as the kernel's domain asks. Memory is asked for before it is taken:
// kind fault.Memory. A panic inside a kernel is not recovered here.
func Compute(o graph.Op, in []tensor.Tensor, declared []tensor.Type) ([]tensor.Tensor, error) {
	return ComputeContext(context.Background(), o, in, declared)
}

// ComputeContext is Compute for operators that may run long: they look at ctx every few milliseconds. It then returns
// the error of the computation.
func ComputeContext(ctx context.Context, o graph.Op, in []tensor.Tensor, declared []tensor.Type) ([]tensor.Tensor,
	error) {
	if ctx.Done() == nil {
		return ComputePausing(ctx, nil, o, in, declared)
	}
	return ComputePausing(ctx, func() {
		if err := ctx.Err(); err != nil {
			panic(shortage{fault.As(fault.Canceled, err, "%s", graph.NameOf(o))})
		}
	}, o, in, declared)
}

// ComputePausing is ComputeContext with a pause of the caller's, which is called on this goroutine every few
// milliseconds, not before the first: it may wait, and by a panic, which the caller recovers from, end the computation.
// Bodies of control flow look at ctx between their nodes.
func ComputePausing(ctx context.Context, pause func(), o graph.Op, in []tensor.Tensor, declared []tensor.Type) (
	res []tensor.Tensor, err error) {
	defer refuse(&err)
	e, ok := kernels[reflect.TypeOf(o)]
	if !ok {
		return nil, fault.New(fault.Unsupported, "%s: the reference device has no kernel", graph.NameOf(o))
	}
	facts := make([]tensor.Fact, len(in))
	for i, t := range in {
		if t.Absent() {
			continue
		}
		if size, ok := t.Type().ByteSize(); !ok || int64(len(t.Data)) < size {
			return nil, fault.New(fault.Argument, "%s: input %d: %v in %d bytes", graph.NameOf(o), i, t.Type(), len(t.Data))
		}
		facts[i] = tensor.Fact{Type: t.Type(), Const: tensor.NewConst(t.Data)}
	}
	outFacts, err := o.Infer(facts, declared)
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Type, len(outFacts))
	for i, f := range outFacts {
		out[i] = f.Type
		if err := checkOutput(o, i, f.Type); err != nil {
			return nil, err
		}
	}
	if pause != nil && Work(o, in, out) >= long {
		defer pauses(pause)()
	}
	switch {
	case e.control != nil:
		res, err = e.control(ctx, o, in, out)
	case !e.judges && withoutElements(out):
		for _, t := range out {
			res = append(res, like(t))
		}
	case e.domain == Real:
		res, err = computeReal(e.kernel, o, in, out)
	case e.domain == Bits:
		res, err = computeBits(e.kernel, o, in, out)
	default:
		res, err = e.kernel(o, in, out)
	}
	if err != nil {
		return nil, err
	}
	return res, checkResults(o, res, out)
}

// withoutElements reports whether no output has elements, whatever sizes there are beside the zeros: nothing would
// bound a kernel that goes over 2^40 rows of no elements.
func withoutElements(out []tensor.Type) bool {
	for _, t := range out {
		if n, ok := t.Shape.Count(); !ok || n > 0 {
			return false
		}
	}
	return len(out) > 0
}

// checkResults holds what a kernel returned against what inference promised.
func checkResults(o graph.Op, res []tensor.Tensor, out []tensor.Type) error {
	if len(res) != len(out) {
		return fault.New(fault.Internal, "%s: computed %d outputs of %d", graph.NameOf(o), len(res), len(out))
	}
	for i, t := range res {
		if _, ok := out[i].Shape.Merge(tensor.Of(t.Dims...)); !ok || t.DType != out[i].DType {
			return fault.New(fault.Internal, "%s: output %d: computed %v, inferred %v", graph.NameOf(o), i, t.Type(), out[i])
		}
	}
	return nil
}

// checkOutput refuses an output that cannot be allocated, and shapes that inference left open although everything is
// known.
func checkOutput(o graph.Op, i int, t tensor.Type) error {
	_, ok := t.Shape.Ints()
	switch {
	case !ok && !graph.TraitsOf(o).DataDependent:
		return fault.New(fault.Internal, "%s: output %d: inference leaves %v open", graph.NameOf(o), i, t)
	case !ok:
		return nil
	}
	n, ok := t.Shape.Count()
	size, fits := t.ByteSize()
	if !ok || !fits || n > maxElements {
		return fault.As(fault.Memory, mem.ErrExhausted, "%s: output %d: %v is too large", graph.NameOf(o), i, t)
	}
	return fault.Wrap(mem.Fits(size), "%s: output %d: %v", graph.NameOf(o), i, t)
}

// computeReal widens narrow and quantized inputs to float32, runs the kernel, and rounds the results to the output
// types.
func computeReal(k Kernel, o graph.Op, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	wide := make([]tensor.Tensor, len(in))
	for i, t := range in {
		w, err := toReal(t)
		if err != nil {
			return nil, fault.Wrap(err, "input %d", i)
		}
		wide[i] = w
	}
	wideOut := make([]tensor.Type, len(out))
	for i, t := range out {
		wideOut[i] = t
		if narrow(t.DType, t.Quant) {
			wideOut[i].DType, wideOut[i].Quant = tensor.Float32, nil
		}
	}
	res, err := k(o, wide, wideOut)
	if err != nil {
		return nil, err
	}
	for i := range res {
		if narrow(out[i].DType, out[i].Quant) {
			if res[i], err = fromReal(res[i], out[i]); err != nil {
				return nil, fault.Wrap(err, "output %d", i)
			}
		}
	}
	return res, nil
}

// computeBits moves elements; when the output is quantized otherwise than input 0 the data goes through real values.
func computeBits(k Kernel, o graph.Op, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	for _, t := range out {
		for _, x := range in {
			differs := x.DType == t.DType && !x.Quant.Equal(t.Quant)
			if !x.Absent() && (differs || x.Quant != nil && t.Quant != nil && x.DType != t.DType) {
				return computeReal(k, o, in, out)
			}
		}
	}
	return k(o, in, out)
}

// narrow reports whether values of the type are computed in float32 although they are stored otherwise.
func narrow(d tensor.DType, q *tensor.Quant) bool {
	return q != nil || d.IsFloat() && d.Bits() < 32
}
