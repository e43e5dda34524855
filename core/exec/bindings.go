package exec

import (
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Bindings are the memory and the sizes of an execution's ports, with the checks that device.Execution promises. It is
// not safe for concurrent use: a device calls it inside Task.Do.
type Bindings struct {
	In, Out []Binding
}

// Binding is the memory that is bound to one port.
type Binding struct {
	Port device.Port
	View mem.View // Buf nil: not bound
	Dims []int64  // sizes of an input, nil: not known

	shape tensor.Shape // of the last run, kept so that the next one of equal sizes allocates none
}

// sized returns the shape of the given sizes.
func (b *Binding) sized(dims []int64) tensor.Shape {
	if !b.shape.Ranked || len(dims) != len(b.shape.Dims) {
		b.shape = tensor.Of(dims...)
		return b.shape
	}
	for i, n := range dims {
		if b.shape.Dims[i] != tensor.D(n) {
			b.shape = tensor.Of(dims...)
			break
		}
	}
	return b.shape
}

// NewBindings returns the bindings of a program's ports; inputs whose sizes are all known have them set.
func NewBindings(in, out []device.Port) *Bindings {
	b := &Bindings{In: make([]Binding, len(in)), Out: make([]Binding, len(out))}
	for i, port := range in {
		b.In[i].Port = port
		if dims, ok := port.Type.Shape.Ints(); ok {
			b.In[i].Dims = dims
		}
	}
	for i, port := range out {
		b.Out[i].Port = port
	}
	return b
}

// CheckIndex is the error for a port index outside [0, n).
func CheckIndex(what string, i, n int) error {
	if i < 0 || i >= n {
		return fault.New(fault.Argument, "%s %d of %d", what, i, n)
	}
	return nil
}

// SetShape sets the sizes of an input.
func (b *Bindings) SetShape(in int, dims []int64) error {
	if err := CheckIndex("input", in, len(b.In)); err != nil {
		return err
	}
	return fault.Wrap(b.In[in].setDims(dims), "input %d", in)
}

func (b *Binding) setDims(dims []int64) error {
	want := b.Port.Type
	if _, ok := want.Shape.Merge(tensor.Of(dims...)); !ok {
		return fault.New(fault.Shape, "want %v, got %v", want.Shape, dims)
	}
	if _, ok := tensor.T(want.DType, dims...).ByteSize(); !ok {
		return fault.New(fault.Shape, "%v%v has no size", want.DType, dims)
	}
	b.Dims = append([]int64{}, dims...)
	return nil
}

// BindInput binds v to an input, and sets its sizes if v knows them.
func (b *Bindings) BindInput(i int, v mem.View) error {
	if err := CheckIndex("input", i, len(b.In)); err != nil {
		return err
	}
	p := &b.In[i]
	if v.Buf != nil {
		if err := p.check(v); err != nil {
			return fault.Wrap(err, "bind input %d", i)
		}
		if dims, ok := v.Type.Shape.Ints(); ok {
			if err := p.setDims(dims); err != nil {
				return fault.Wrap(err, "bind input %d", i)
			}
		}
	}
	p.set(v)
	return nil
}

// BindOutput binds v to an output.
func (b *Bindings) BindOutput(i int, v mem.View) error {
	if err := CheckIndex("output", i, len(b.Out)); err != nil {
		return err
	}
	if v.Buf != nil {
		if err := b.Out[i].check(v); err != nil {
			return fault.Wrap(err, "bind output %d", i)
		}
	}
	b.Out[i].set(v)
	return nil
}

// set replaces the view and moves the references.
func (b *Binding) set(v mem.View) {
	if v.Buf != nil {
		v.Buf.Retain()
	}
	if b.View.Buf != nil {
		b.View.Buf.Release()
	}
	v.Strides = slices.Clone(v.Strides)
	b.View = v
}

// check checks what can be known of a view before the run.
func (b *Binding) check(v mem.View) error {
	want := b.Port.Type
	if v.Type.DType != tensor.Invalid && want.DType != tensor.Invalid && v.Type.DType != want.DType {
		return fault.New(fault.Type, "want %v, got %v", want.DType, v.Type.DType)
	}
	if v.Type.Shape.Static() {
		if _, ok := want.Shape.Merge(v.Type.Shape); !ok {
			return fault.New(fault.Shape, "want %v, got %v", want.Shape, v.Type.Shape)
		}
		if v.Type.DType == tensor.Invalid {
			v.Type.DType = want.DType
		}
		_, err := v.Span()
		return err
	}
	if v.Strides != nil {
		return fault.New(fault.Shape, "strides need known sizes, got %v", v.Type.Shape)
	}
	if v.Off < 0 || v.Off > v.Buf.Size() {
		return fault.New(fault.Memory, "offset %d in a buffer of %d bytes", v.Off, v.Buf.Size())
	}
	return nil
}

// Ready checks that a run may begin: all inputs are bound and have sizes, and equal symbols have equal sizes.
func (b *Bindings) Ready() error {
	var symbols map[uint32]int64
	for i := range b.In {
		p := &b.In[i]
		if p.Dims == nil {
			return fault.New(fault.State, "input %d: %v has no sizes set", i, p.Port.Type)
		}
		if p.View.Buf == nil {
			return fault.New(fault.State, "input %d is not bound", i)
		}
		for k, d := range p.Port.Type.Shape.Dims {
			if d.Known() || d.Sym == tensor.Unknown {
				continue
			}
			if n, seen := symbols[d.Sym]; seen && n != p.Dims[k] {
				return fault.New(fault.Shape, "input %d: dimension %d is %d, an earlier dimension of the same unknown size is %d",
					i, k, p.Dims[k], n)
			}
			if symbols == nil {
				symbols = map[uint32]int64{}
			}
			symbols[d.Sym] = p.Dims[k]
		}
	}
	return nil
}

// Input returns the view of a bound input with the port's type and the sizes set, after checking that it lies inside
// its buffer.
func (b *Binding) Input() (mem.View, error) {
	v := b.View
	v.Type = tensor.Type{DType: b.Port.Type.DType, Shape: b.sized(b.Dims), Quant: b.Port.Type.Quant}
	_, err := v.Span()
	return v, err
}

// Result returns the view of a bound output as one of t's type, after checking that it fits.
func (b *Binding) Result(t tensor.Tensor) (mem.View, error) {
	return b.Output(tensor.Type{DType: t.DType, Shape: b.sized(t.Dims), Quant: t.Quant})
}

// Output returns the view of a bound output as one of the result's type t, after checking that t fits.
func (b *Binding) Output(t tensor.Type) (mem.View, error) {
	v := b.View
	if v.Type.Shape.Static() && !v.Type.Shape.Equal(t.Shape) {
		return v, fault.New(fault.Shape, "result is %v, bound as %v", t, v.Type)
	}
	v.Type = t
	_, err := v.Span()
	return v, err
}

// Release drops all references.
func (b *Bindings) Release() {
	for i := range b.In {
		b.In[i].set(mem.View{})
	}
	for i := range b.Out {
		b.Out[i].set(mem.View{})
	}
}
