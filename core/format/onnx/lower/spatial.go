package lower

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var spatialOperators = []Operator{
	{"", "Conv", 1, lowerConv},
	{"", "ConvInteger", 10, lowerConvInteger},
	{"", "ConvTranspose", 1, lowerConvTranspose},
	{"", "MaxPool", 1, pool(func(n *node, w window) graph.Op {
		return &op.MaxPool{Kernel: w.kernel, Strides: w.strides, Dilations: w.dilations, Pads: w.pads, AutoPad: w.auto,
			Ceil: w.ceil, ColumnMajor: n.int("storage_order", 0) != 0}
	})},
	{"", "AveragePool", 7, pool(func(n *node, w window) graph.Op {
		return &op.AveragePool{Kernel: w.kernel, Strides: w.strides, Dilations: w.dilations, Pads: w.pads, AutoPad: w.auto,
			Ceil: w.ceil, CountPads: n.int("count_include_pad", 0) != 0}
	})},
	{"", "LpPool", 2, pool(func(n *node, w window) graph.Op { return w.norm(n.int("p", 2)) })},
	{"", "GlobalMaxPool", 1, withAttrs(func(*node) graph.Op { return &op.MaxPool{Global: true} })},
	{"", "GlobalAveragePool", 1, withAttrs(func(*node) graph.Op { return &op.AveragePool{Global: true} })},
	{"", "GlobalLpPool", 2, withAttrs(func(n *node) graph.Op { return &op.LpPool{Global: true, P: n.int("p", 2)} })},
	{"", "Gemm", 7, lowerGemm},
	{"", "MatMulInteger", 10, lowerMatMulInteger},
}

// takesFilter reports whether input 1 is a constant of the graph itself that the lowering stores in another order, as
// nothing has read it so far as it is.
func (n *node) takesFilter() bool {
	name := n.p.In[1]
	_, read := n.values[name]
	return !read && n.inits[name] != nil && filterInput[n.p.Operator()] && !n.p.Frame.Expanded()
}

// filter returns input i as [O, spatial..., I/groups]. Convolutions hold [O, I/groups, spatial...], transposed ones [I,
// O/groups, spatial...].
func (n *node) filter(i int, transposed bool, groups int64) (graph.Value, error) {
	name := n.p.In[i]
	t := n.inits[name]
	if n.in[i] != graph.None || t == nil {
		return n.movedFilter(n.in[i], transposed, groups)
	}
	if len(t.Dims) < 3 {
		return graph.None, fault.New(fault.Shape, "input %d: want a filter of rank 3 or more, got %v", i, t.Dims)
	}
	if transposed && groups > 1 {
		v, err := n.lookup(name)
		if err != nil {
			return graph.None, err
		}
		return n.movedFilter(v, transposed, groups)
	}
	d, err := proto.DTypeOf(t.DType)
	if err != nil || d.Bits() < 8 {
		return graph.None, fault.New(fault.Type, "input %d: a filter of element type %d", i, t.DType)
	}
	perm := filterPerm(len(t.Dims), transposed)
	v, err := n.constantAs(t, perm)
	n.stored, n.storedOrder = v, perm
	return v, fault.Wrap(err, "initializer %q", name.Text)
}

// movedFilter adds the transposition of a filter that is computed.
func (n *node) movedFilter(w graph.Value, transposed bool, groups int64) (graph.Value, error) {
	r := n.b.Fact(w).Shape.Rank()
	if r < 3 {
		return graph.None, fault.New(fault.Unsupported, "input 1: want a filter of known rank 3 or more, got %v",
			n.b.Fact(w).Shape)
	}
	var perm []int64
	for k := int64(2); k < int64(r); k++ {
		perm = append(perm, k)
	}
	if !transposed {
		return n.b.Add(&op.Transpose{}, w, n.b.Int64s(append(append([]int64{0}, perm...), 1)...)), n.b.Err()
	}
	if groups <= 1 {
		return n.b.Add(&op.Transpose{}, w, n.b.Int64s(append(append([]int64{1}, perm...), 0)...)), n.b.Err()
	}
	if d := n.b.Fact(w).Shape.Dims[0]; d.Known() && d.N%groups != 0 {
		return graph.None, fault.New(fault.Shape, "input 1: %v does not divide into %d groups", n.b.Fact(w).Shape, groups)
	}
	// [g*i, o, spatial] -> [g, i, o, spatial] -> [g, o, spatial, i] -> [g*o, spatial, i]
	order := []int64{0, 2}
	for k := 2; k < r; k++ {
		order = append(order, int64(k+1))
	}
	v := n.b.Add(&op.Reshape{}, w, n.sizesAfter(w, 1, groups, -1))
	v = n.b.Add(&op.Transpose{}, v, n.b.Int64s(append(order, 1)...))
	v = n.b.Add(&op.Reshape{}, v, n.sizesAfter(v, 2, -1))
	return v, n.b.Err()
}

// sizesAfter returns first and behind it the sizes of v from dimension at on, whether they are known or not.
func (n *node) sizesAfter(v graph.Value, at int, first ...int64) graph.Value {
	if dims, ok := n.b.Fact(v).Shape.Ints(); ok {
		return n.b.Int64s(append(first, dims[at:]...)...)
	}
	rest := n.b.Add(&op.Slice{}, n.b.Add(&op.Shape{}, v), n.b.Int64s(int64(at)), n.b.Int64s(math.MaxInt64), n.b.Int64s(0))
	return n.b.Add(&op.Concat{}, n.b.Int64s(first...), rest)
}

var AutoPads = map[string]op.AutoPad{"NOTSET": op.PadExplicit, "SAME_UPPER": op.PadSameUpper,
	"SAME_LOWER": op.PadSameLower, "VALID": op.PadValid, "": op.PadExplicit}

func (n *node) autoPad() (op.AutoPad, error) {
	name := n.string("auto_pad", "NOTSET")
	p, ok := AutoPads[name]
	if !ok {
		return 0, fault.New(fault.File, "attribute auto_pad: %q", name)
	}
	return p, nil
}

// conv reads the attributes and the filter of a convolution.
func (n *node) conv() (*op.Conv, graph.Value, error) {
	o := &op.Conv{Strides: n.ints("strides"), Dilations: n.ints("dilations"), Pads: n.ints("pads"),
		Groups: n.int("group", 1)}
	w, err := n.filter(1, false, o.Groups)
	if err != nil {
		return nil, graph.None, err
	}
	o.AutoPad, err = n.autoPad()
	return o, w, err
}

func lowerConv(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	o, w, err := n.conv()
	if err != nil {
		return err
	}
	if n.has(2) {
		return n.emit(o, n.arg(0), w, n.arg(2))
	}
	return n.emit(o, n.arg(0), w)
}

// lowerConvInteger subtracts the zero points in int32 and convolves there: exact, as the operator defines.
func lowerConvInteger(n *node) error {
	if err := n.want(2, 4); err != nil {
		return err
	}
	o, w, err := n.conv()
	if err != nil {
		return err
	}
	x := n.centred(n.arg(0), 2)
	if n.has(3) {
		zero := n.b.Add(&op.Cast{To: tensor.Int32}, n.arg(3))
		if r := n.fact(3).Shape.Rank(); r == 1 { // per output channel: dimension 0 of the filter
			ones := make([]int64, n.b.Fact(w).Shape.Rank())
			for i := range ones {
				ones[i] = 1
			}
			ones[0] = -1
			zero = n.b.Add(&op.Reshape{}, zero, n.b.Int64s(ones...))
		}
		w = n.b.Add(&op.Sub{}, n.b.Add(&op.Cast{To: tensor.Int32}, w), zero)
	} else {
		w = n.b.Add(&op.Cast{To: tensor.Int32}, w)
	}
	return n.emit(o, x, w)
}

// centred returns v as int32 minus the zero point that input i holds, if it is given.
func (n *node) centred(v graph.Value, i int) graph.Value {
	x := n.b.Add(&op.Cast{To: tensor.Int32}, v)
	if !n.has(i) {
		return x
	}
	return n.b.Add(&op.Sub{}, x, n.b.Add(&op.Cast{To: tensor.Int32}, n.arg(i)))
}

func lowerConvTranspose(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	groups := n.int("group", 1)
	w, err := n.filter(1, true, groups)
	if err != nil {
		return err
	}
	auto, err := n.autoPad()
	if err != nil {
		return err
	}
	o := &op.ConvTranspose{Strides: n.ints("strides"), Dilations: n.ints("dilations"), Pads: n.ints("pads"), AutoPad: auto,
		OutputPads: n.ints("output_padding"), Groups: groups}
	in := []graph.Value{n.arg(0), w, graph.None}
	if n.has(2) {
		in[2] = n.arg(2)
	}
	if shape := n.ints("output_shape"); len(shape) > 0 {
		if o.AutoPad == op.PadValid { // pads follow from output_shape; only SAME_UPPER splits them in another way
			o.AutoPad = op.PadExplicit
		}
		return n.emit(o, append(in, n.b.Int64s(shape...))...)
	}
	if in[2] == graph.None {
		in = in[:2]
	}
	return n.emit(o, in...)
}

// window holds the attributes that all pools share.
type window struct {
	kernel, strides, dilations, pads []int64
	auto                             op.AutoPad
	ceil                             op.CeilMode
}

func (w window) norm(p int64) graph.Op {
	return &op.LpPool{Kernel: w.kernel, Strides: w.strides, Dilations: w.dilations, Pads: w.pads, AutoPad: w.auto,
		Ceil: w.ceil, P: p}
}

// pool lowers a pool, which of makes of its window.
func pool(of func(n *node, w window) graph.Op) lowering {
	return func(n *node) error {
		w, err := n.window()
		if err != nil {
			return err
		}
		return n.emit(of(n, w), n.in...)
	}
}

// window reads the attributes that all pools share.
func (n *node) window() (window, error) {
	auto, err := n.autoPad()
	w := window{n.ints("kernel_shape"), n.ints("strides"), n.ints("dilations"), n.ints("pads"), auto, op.RoundFloor}
	if n.int("ceil_mode", 0) != 0 {
		w.ceil = op.RoundCeilInside
	}
	return w, err
}

// lowerGemm is alpha * A' * B' + beta * C.
func lowerGemm(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	y := n.b.Add(&op.MatMul{TransposeA: n.int("transA", 0) != 0, TransposeB: n.int("transB", 0) != 0}, n.arg(0), n.arg(1))
	scaled := func(v graph.Value, by float32) (graph.Value, error) {
		if by == 1 {
			return v, nil
		}
		s, err := n.scalarLike(0, float64(by))
		if err != nil {
			return graph.None, err
		}
		return n.b.Add(&op.Mul{}, v, s), nil
	}
	y, err := scaled(y, n.float("alpha", 1))
	if err != nil || !n.has(2) {
		n.out[0] = y
		return err
	}
	c, err := scaled(n.arg(2), n.float("beta", 1))
	if err != nil {
		return err
	}
	return n.emit(&op.Add{}, y, c)
}

// lowerMatMulInteger subtracts the zero points in int32 and multiplies there. A zero point of A with several entries is
// one per row.
func lowerMatMulInteger(n *node) error {
	if err := n.want(2, 4); err != nil {
		return err
	}
	a := n.b.Add(&op.Cast{To: tensor.Int32}, n.arg(0))
	if n.has(2) {
		zero := n.b.Add(&op.Cast{To: tensor.Int32}, n.arg(2))
		if c, ok := n.fact(2).Shape.Count(); n.fact(2).Shape.Rank() == 1 && !(ok && c == 1) {
			zero = n.b.Add(&op.Unsqueeze{}, zero, n.b.Int64s(1))
		}
		a = n.b.Add(&op.Sub{}, a, zero)
	}
	return n.emit(&op.MatMul{}, a, n.centred(n.arg(1), 3))
}
