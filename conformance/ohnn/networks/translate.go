package networks

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// translator turns a random graph into operations of the API. Images are NCHW in most graphs and NHWC in the API, so
// that operators on them stand between transpositions, as in models that converters write.
type translator struct {
	*builder
	graph *graph.Graph
	of    map[graph.Value]uint32 // tensors of values
}

// translate returns the case of a random graph.
func translate(g *graphs.Case) (*Case, error) {
	t := &translator{builder: &builder{}, graph: g.Graph, of: map[graph.Value]uint32{}}
	for i, v := range g.Graph.In {
		x := t.value(v)
		t.m.Tensors[x].Feed = bodyOf(g.In[i])
		t.m.Inputs = append(t.m.Inputs, x)
	}
	order, err := g.Graph.Order()
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		n := &g.Graph.Nodes[i]
		out := t.value(n.Out[0])
		if err := t.node(n, out); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
	}
	for i, v := range g.Graph.Out {
		o := t.value(v)
		t.m.Tensors[o].Expect = bodyOf(g.Want[i])
		t.m.Outputs = append(t.m.Outputs, o)
	}
	t.m.Rel, t.m.Abs = g.Rel, g.Abs
	return &Case{Name: g.Name, Why: g.Why, Model: t.m}, nil
}

func bodyOf(t tensor.Tensor) *model.Body {
	b := &model.Body{}
	for _, d := range t.Dims {
		b.Dims = append(b.Dims, int32(d))
	}
	b.Data, _ = numbers.Decode(t.Data, t.DType, b.Count())
	return b
}

// value returns the tensor of a value, with the value of a constant.
func (t *translator) value(v graph.Value) uint32 {
	if x, ok := t.of[v]; ok {
		return x
	}
	f := t.graph.Fact(v)
	dims := make([]int32, len(f.Shape.Dims))
	for i, d := range f.Shape.Dims {
		dims[i] = -1
		if d.Known() {
			dims[i] = int32(d.N)
		}
	}
	name := ""
	for n, d := range model.DataTypes {
		if d.DType == f.DType {
			name = n
		}
	}
	x := t.tensor(name, dims)
	if f.Const != nil {
		t.m.Tensors[x].Data, _ = numbers.Decode(f.Const.Data, f.DType, (&model.Body{Dims: dims}).Count())
	}
	t.of[v] = x
	return x
}

// ints returns the values of a constant list.
func (t *translator) ints(v graph.Value) []int64 {
	var out []int64
	for _, d := range t.graph.Fact(v).IntValues() {
		out = append(out, d.N)
	}
	return out
}

// same are the operators that differ in the name alone.
var same = map[string]string{"relu": "RELU", "sigmoid": "SIGMOID", "tanh": "TANH", "abs": "ABS", "neg": "NEG",
	"hard_swish": "HSWISH", "sin": "SIN", "cos": "COS", "erf": "ERF", "gelu": "GELU", "add": "ADD", "sub": "SUB",
	"mul": "MUL", "div": "DIV", "max": "MAXIMUM", "min": "MINIMUM", "mat_mul": "MATMUL", "where": "WHERE"}

// reductions are the reductions, whose first field is KeepDims.
var reductions = map[string]string{"reduce_mean": "REDUCE_MEAN", "reduce_max": "REDUCE_MAX",
	"reduce_min": "REDUCE_MIN", "reduce_sum": "REDUCE_SUM", "reduce_l2": "REDUCE_L2"}

// node adds the operations of a node, the last of which writes out.
func (t *translator) node(n *graph.Node, out uint32) error {
	in := make([]uint32, len(n.In))
	for i, v := range n.In {
		if v == graph.None {
			return fmt.Errorf("%s: an input is absent", graph.NameOf(n.Op))
		}
		if i > 0 && indexed[graph.NameOf(n.Op)] {
			continue // read as numbers
		}
		in[i] = t.value(v)
	}
	x := in[0]
	name := graph.NameOf(n.Op)
	if o, ok := same[name]; ok {
		t.op(o, in, out)
		return nil
	}
	if o, ok := reductions[name]; ok {
		keep := len(t.m.Tensors[out].Dims) == len(t.m.Tensors[x].Dims)
		t.op(o, []uint32{x, t.list("int32", t.ints(n.In[1])...)}, out, scalar(o+"_KEEP_DIMS", "bool", flag(keep)))
		return nil
	}
	switch o := n.Op.(type) {
	case *op.Identity:
		t.op("CAST", []uint32{x, t.list("int32", 11)}, out)
	case *op.Softplus, *op.Mish:
		y := t.op("LOG", []uint32{t.op("ADD", []uint32{t.op("EXP", []uint32{x}, t.like(x)), t.one(1)}, t.like(x))}, t.like(x))
		if name == "mish" {
			t.op("MUL", []uint32{x, t.op("TANH", []uint32{y}, t.like(x))}, out)
		} else {
			t.m.Operations[len(t.m.Operations)-1].Out[0] = out
		}
	case *op.Softsign:
		t.op("DIV", []uint32{x, t.op("ADD", []uint32{t.op("ABS", []uint32{x}, t.like(x)), t.one(1)}, t.like(x))}, out)
	case *op.Elu: // max(x, 0) + alpha * (exp(min(x, 0)) - 1)
		down := t.op("EXP", []uint32{t.op("MINIMUM", []uint32{x, t.one(0)}, t.like(x))}, t.like(x))
		low := t.op("MUL", []uint32{t.op("SUB", []uint32{down, t.one(1)}, t.like(x)), t.one(o.Alpha)}, t.like(x))
		t.op("ADD", []uint32{low, t.op("RELU", []uint32{x}, t.like(x))}, out)
	case *op.HardSigmoid:
		y := t.op("ADD", []uint32{t.op("MUL", []uint32{x, t.one(o.Alpha)}, t.like(x)), t.one(o.Beta)}, t.like(x))
		t.op("CLIP", []uint32{y}, out, scalar("CLIP_MAX", "float32", 1), scalar("CLIP_MIN", "float32", 0))
	case *op.LeakyRelu:
		t.op("LEAKY_RELU", []uint32{x}, out, scalar("LEAKY_RELU_NEGATIVE_SLOPE", "float32", float64(o.Alpha)))
	case *op.Clip:
		t.op("CLIP", []uint32{x}, out, scalar("CLIP_MAX", "float32", t.real(n.In[2])),
			scalar("CLIP_MIN", "float32", t.real(n.In[1])))
	case *op.Softmax:
		if o.Scale() != 1 {
			return fmt.Errorf("softmax with beta %v", o.Beta)
		}
		t.op("SOFTMAX", []uint32{x}, out, scalar("SOFTMAX_AXIS", "int64", float64(o.Axis)))
	case *op.LogSoftmax:
		if o.Scale() != 1 {
			return fmt.Errorf("log softmax with beta %v", o.Beta)
		}
		t.op("LOG_SOFTMAX", []uint32{x}, out, scalar("LOG_SOFTMAX_AXIS", "int64", float64(o.Axis)))
	case *op.Conv:
		ps := []parameter{listed("CONV2D_STRIDES", "int64", o.Strides), listed("CONV2D_DILATION", "int64", []int64{1, 1}),
			listed("CONV2D_PAD", "int64", sides(o.Pads)), scalar("CONV2D_GROUP", "int64", float64(o.Groups))}
		if o.ChannelsLast {
			t.op("CONV2D", in, out, ps...)
			return nil
		}
		t.image(x, out, func(x, y uint32) { t.op("CONV2D", []uint32{x, in[1], in[2]}, y, ps...) })
	case *op.MaxPool:
		t.pool("MAX_POOL", x, out, o.Kernel, o.Strides, o.Pads)
	case *op.AveragePool:
		t.pool("AVG_POOL", x, out, o.Kernel, o.Strides, o.Pads)
	case *op.BatchNorm:
		ps := scalar("BATCH_NORM_EPSILON", "float32", float64(o.Epsilon))
		t.lastChannel(x, out, func(x, y uint32) { t.op("BATCH_NORM", append([]uint32{x}, in[1:]...), y, ps) })
	case *op.LayerNorm:
		axis := float64(len(t.m.Tensors[x].Dims) - 1)
		t.op("LAYER_NORM", in, out, rank0("LAYER_NORM_BEGIN_NORM_AXIS", "int64", axis),
			rank0("LAYER_NORM_BEGIN_PARAM_AXIS", "int64", axis), rank0("LAYER_NORM_EPSILON", "float32", float64(o.Epsilon)))
	case *op.Transpose:
		t.op("TRANSPOSE", []uint32{x, t.list("int32", t.ints(n.In[1])...)}, out)
	case *op.Reshape:
		t.op("RESHAPE", []uint32{x, t.list("int32", t.ints(n.In[1])...)}, out)
	case *op.Concat:
		t.op("CONCAT", in, out, scalar("CONCAT_AXIS", "int64", float64(o.Axis)))
	case *op.Slice:
		t.slice(x, out, n)
	case *op.Pad:
		return t.pad(x, out, o, t.ints(n.In[1]))
	case *op.Gather:
		t.op("GATHER", []uint32{x, t.list("int32", t.ints(n.In[1])...), t.list("int32", t.ints(n.In[2])...)}, out)
	case *op.Unsqueeze:
		t.op("UNSQUEEZE", []uint32{x}, out, listed("UNSQUEEZE_AXIS", "int64", t.ints(n.In[1])))
	case *op.DepthToSpace:
		ps := []parameter{scalar("DEPTH_TO_SPACE_BLOCK_SIZE", "int64", float64(o.Block)),
			scalar("DEPTH_TO_SPACE_MODE", "int32", float64(o.Mode))}
		t.image(x, out, func(x, y uint32) { t.op("DEPTH_TO_SPACE", []uint32{x}, y, ps...) })
	case *op.Tile:
		t.op("TILE", []uint32{x, t.list("int32", t.ints(n.In[1])...)}, out)
	default:
		return fmt.Errorf("%s has no operation of the API", name)
	}
	return nil
}

// indexed are the operators whose inputs but the first are read as numbers.
var indexed = map[string]bool{"clip": true, "transpose": true, "reshape": true, "slice": true, "pad": true,
	"gather": true, "unsqueeze": true, "tile": true, "reduce_mean": true, "reduce_max": true, "reduce_min": true,
	"reduce_sum": true, "reduce_l2": true}

// real returns the number of a constant float.
func (t *translator) real(v graph.Value) float64 {
	f := t.graph.Fact(v)
	n, _ := numbers.Decode(f.Const.Data, f.DType, 1)
	return n[0].Real
}

// sides turns pads [top, left, bottom, right] into [top, bottom, left, right].
func sides(p []int64) []int64 {
	if len(p) == 0 {
		return []int64{0, 0, 0, 0}
	}
	return []int64{p[0], p[2], p[1], p[3]}
}

var toLast, toFirst = []int64{0, 2, 3, 1}, []int64{0, 3, 1, 2}

// image adds operations on the NHWC form of x, which write that of out.
func (t *translator) image(x, out uint32, operate func(x, out uint32)) {
	y := t.tensor("float32", permuted(t.m.Tensors[out].Dims, toLast))
	operate(t.transposed(x, toLast), y)
	t.op("TRANSPOSE", []uint32{y, t.list("int32", toFirst...)}, out)
}

// lastChannel is image for any rank, with channels in dimension 1.
func (t *translator) lastChannel(x, out uint32, operate func(x, out uint32)) {
	rank := len(t.m.Tensors[x].Dims)
	to, from := []int64{0}, []int64{0, int64(rank - 1)}
	for i := 2; i < rank; i++ {
		to, from = append(to, int64(i)), append(from, int64(i-1))
	}
	to = append(to, 1)
	y := t.tensor("float32", permuted(t.m.Tensors[out].Dims, to))
	operate(t.transposed(x, to), y)
	t.op("TRANSPOSE", []uint32{y, t.list("int32", from...)}, out)
}

func (t *translator) transposed(x uint32, perm []int64) uint32 {
	y := t.tensor("float32", permuted(t.m.Tensors[x].Dims, perm))
	return t.op("TRANSPOSE", []uint32{x, t.list("int32", perm...)}, y)
}

func permuted(dims []int32, perm []int64) []int32 {
	out := make([]int32, len(dims))
	for i, p := range perm {
		out[i] = dims[p]
	}
	return out
}

func (t *translator) pool(name string, x, out uint32, kernel, strides, pads []int64) {
	t.image(x, out, func(x, y uint32) {
		t.op(name, []uint32{x}, y, listed(name+"_KERNEL_SIZE", "int64", kernel), listed(name+"_STRIDE", "int64", strides),
			listed(name+"_PAD", "int64", sides(pads)))
	})
}

// slice writes the box of a slice on one axis.
func (t *translator) slice(x, out uint32, n *graph.Node) {
	start, end, axis, step := t.ints(n.In[1])[0], t.ints(n.In[2])[0], t.ints(n.In[3])[0], t.ints(n.In[4])[0]
	rank := len(t.m.Tensors[x].Dims)
	begin, limit, steps := make([]int64, rank), make([]int64, rank), slices.Repeat([]int64{1}, rank)
	begin[axis], limit[axis], steps[axis] = start, end, step
	whole := float64(int(1)<<rank - 1 - int(1)<<axis)
	t.op("STRIDED_SLICE", []uint32{x, t.list("int32", begin...), t.list("int32", limit...), t.list("int32", steps...)},
		out, scalar("STRIDED_SLICE_BEGIN_MASK", "int64", whole), scalar("STRIDED_SLICE_END_MASK", "int64", whole))
}

// pad writes the padded x. The API has no mode that repeats the edge: there, slices of it are joined, axis by axis.
func (t *translator) pad(x, out uint32, o *op.Pad, pads []int64) error {
	dims := t.m.Tensors[x].Dims
	rank := len(dims)
	switch o.Mode {
	case op.PadConstant, op.PadReflect:
		list := make([]int64, 0, 2*rank)
		for i := range rank {
			list = append(list, pads[i], pads[i+rank])
		}
		p := t.list("int32", list...)
		t.m.Tensors[p].Dims = []int32{int32(rank), 2}
		t.op("PAD", []uint32{x, p}, out, scalar("PAD_PADDING_MODE", "int32", float64(o.Mode)))
		return nil
	case op.PadEdge:
	default:
		return fmt.Errorf("padding mode %d", o.Mode)
	}
	for i := range rank {
		if pads[i] == 0 && pads[i+rank] == 0 {
			continue
		}
		edge := slices.Clone(dims)
		edge[i] = 1
		begin, end, steps := make([]int64, rank), make([]int64, rank), slices.Repeat([]int64{1}, rank)
		whole := float64(int(1)<<rank - 1 - int(1)<<i)
		cut := func(from, to int64, ends float64) uint32 {
			begin[i], end[i] = from, to
			return t.op("STRIDED_SLICE", []uint32{x, t.list("int32", begin...), t.list("int32", end...),
				t.list("int32", steps...)}, t.tensor("float32", edge), scalar("STRIDED_SLICE_BEGIN_MASK", "int64", whole),
				scalar("STRIDED_SLICE_END_MASK", "int64", ends))
		}
		first, last := cut(0, 1, whole), cut(-1, 0, whole+float64(int(1)<<i))
		parts := slices.Concat(slices.Repeat([]uint32{first}, int(pads[i])), []uint32{x},
			slices.Repeat([]uint32{last}, int(pads[i+rank])))
		dims = slices.Clone(dims)
		if dims[i] >= 0 {
			dims[i] += int32(pads[i] + pads[i+rank])
		}
		x = t.op("CONCAT", parts, t.tensor("float32", dims), scalar("CONCAT_AXIS", "int64", float64(i)))
	}
	t.op("CAST", []uint32{x, t.list("int32", 11)}, out)
	return nil
}
