package onnx

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A float model computes with codes where the metadata say how a board stores values (anynpu.value.NAME.stored): such a
// value is quantized and dequantized at once, and constant filters that are applied to codes are quantized as well. A
// model that quantizes by itself stays as it is.

// quantizers are the operators by which a model quantizes by itself.
var quantizers = []string{"QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger",
	"MatMulInteger", "DynamicQuantizeLinear"}

// stores reports whether values of the model are to be stored as the metadata say.
func (im *importer) stores() bool {
	return im.opt.Quantize && !slices.ContainsFunc(im.model.graph.nodes, func(n *nodeProto) bool {
		return n.domain == "" && slices.Contains(quantizers, n.opType)
	})
}

// codeTypes are the types of codes by the names that the metadata have for them.
var codeTypes = map[string]tensor.DType{"int8": tensor.Int8, "int16": tensor.Int16}

// encoded returns what stands for the value v of a name in the main graph: v itself, or what its codes stand for.
func (sc *scope) encoded(name string, v graph.Value) graph.Value {
	if sc != sc.im.main {
		return v
	}
	s := sc.im.meta.Values[name].Stored
	if s == nil || s.Scale == 0 || v == graph.None {
		return v
	}
	if f := sc.b.Fact(v); f.DType != tensor.Float32 || f.Const != nil {
		return v
	}
	d := codeTypes[s.Type]
	zero := make([]byte, d.Bits()/8)
	tensor.PutInt(d, zero, 0, int64(s.Zero))
	scale, z := sc.b.Float32(s.Scale), sc.b.Const("", tensor.T(d), zero)
	q := sc.b.Add(&op.Quantize{Axis: 1, To: d, Saturate: true}, v, scale, z)
	sc.im.coded++
	return sc.b.Add(&op.Dequantize{Axis: 1, To: tensor.Float32}, q, scale, z)
}

// encodeFilters makes codes of 8 bits per output of the constants that codes are multiplied with, and rounds constants
// that are added to the products to multiples of what one means there.
func (im *importer) encodeFilters(g *graph.Graph) error {
	e := &filterEncoder{g: g, w: im.opt.Weights, producers: g.Producers(), uses: g.Uses()}
	for i := range len(g.Nodes) {
		n := &g.Nodes[i]
		axis := 0
		switch o := n.Op.(type) {
		case *op.Conv, *op.ConvTranspose:
		case *op.MatMul:
			if g.Fact(n.In[1]).Shape.Rank() != 2 {
				continue
			}
			if !o.TransposeB {
				axis = 1
			}
		default:
			continue
		}
		if err := e.encode(i, axis); err != nil {
			return fault.Wrap(err, "%s", g.Nodes[i].Label())
		}
	}
	return nil
}

type filterEncoder struct {
	g         *graph.Graph
	w         *mem.Weights
	producers []int
	uses      [][]int
}

// encode quantizes the filter of node i, whose outputs are its dimension axis, if its data are codes of 8 bits.
func (e *filterEncoder) encode(i, axis int) error {
	g := e.g
	n := &g.Nodes[i]
	unit := e.unit(n.In[0])
	f := g.Fact(n.In[1])
	dims, ok := f.Shape.Ints()
	if unit == 0 || f.Const == nil || f.DType != tensor.Float32 || !ok || len(dims) < 2 || slices.Contains(dims, 0) {
		return nil
	}
	x, scale := mem.Elements[float32](f.Const.Data), make([]float32, dims[axis])
	outer, inner := 1, 1
	for k, d := range dims {
		if k < axis {
			outer *= int(d)
		} else if k > axis {
			inner *= int(d)
		}
	}
	channel := func(at int) int { return at / inner % len(scale) }
	for at, v := range x {
		if a := float32(math.Abs(float64(v))); !(a <= math.MaxFloat32) {
			return nil // NaN and infinity have no codes
		} else if c := channel(at); a > scale[c] {
			scale[c] = a
		}
	}
	for c := range scale {
		if scale[c] /= 127; scale[c] < math.SmallestNonzeroFloat32*(1<<23) {
			scale[c] = 1
		}
	}
	codes, err := e.constant(tensor.T(tensor.Int8, dims...), int64(len(x)), func(dst []byte) error {
		for at, v := range x {
			dst[at] = byte(int8(math.RoundToEven(float64(max(-127, min(127, v/scale[channel(at)]))))))
		}
		return nil
	})
	if err != nil {
		return err
	}
	scales, err := e.constant(tensor.T(tensor.Float32, dims[axis]), 4*dims[axis], func(dst []byte) error {
		copy(dst, tensor.Float32s(scale...))
		return nil
	})
	if err != nil {
		return err
	}
	out := e.value(tensor.Fact{Type: tensor.T(tensor.Float32, dims...)})
	name, origin := n.Name, n.Origin
	n.In[1] = out
	g.Nodes = append(g.Nodes, graph.Node{Op: &op.Dequantize{Axis: int64(axis), To: tensor.Float32}, Name: name,
		Origin: origin, In: []graph.Value{codes, scales}, Out: []graph.Value{out}})
	for c := range scale {
		scale[c] *= unit
	}
	return e.roundBias(i, scale)
}

// unit is what one means of the codes of 8 bits that v has, also where they only lie elsewhere; 0: it has none.
func (e *filterEncoder) unit(v graph.Value) float32 {
	for range 8 {
		at := e.producers[v]
		if at < 0 {
			return 0
		}
		n := &e.g.Nodes[at]
		if _, is := n.Op.(*op.Dequantize); is && e.g.Fact(n.In[0]).DType == tensor.Int8 {
			s := e.g.Fact(n.In[1])
			if s.Const == nil || len(s.Const.Data) != 4 {
				return 0
			}
			return math.Float32frombits(binary.LittleEndian.Uint32(s.Const.Data))
		}
		if !graph.TraitsOf(n.Op).Moves {
			return 0
		}
		v = n.In[0]
	}
	return 0
}

// roundBias rounds the constant that is added per output to the products of node i.
func (e *filterEncoder) roundBias(i int, unit []float32) error {
	g := e.g
	at, in := i, 2
	if _, product := g.Nodes[i].Op.(*op.MatMul); product && len(g.Nodes[i].In) < 3 {
		y := g.Nodes[i].Out[0]
		if len(e.uses[y]) != 1 || slices.Contains(g.Out, y) {
			return nil
		}
		at = e.uses[y][0]
		if _, is := g.Nodes[at].Op.(*op.Add); !is {
			return nil
		}
		in = 1 - slices.Index(g.Nodes[at].In, y)
	}
	n := &g.Nodes[at]
	if in >= len(n.In) || n.In[in] == graph.None {
		return nil
	}
	f := g.Fact(n.In[in])
	if f.Const == nil || f.DType != tensor.Float32 || len(f.Const.Data) != 4*len(unit) {
		return nil
	}
	x := mem.Elements[float32](f.Const.Data)
	v, err := e.constant(f.Type, int64(len(f.Const.Data)), func(dst []byte) error {
		for c, b := range x {
			q := math.RoundToEven(float64(b / unit[c]))
			q = max(math.MinInt32, min(math.MaxInt32, q))
			binary.LittleEndian.PutUint32(dst[4*c:], math.Float32bits(float32(q)*unit[c]))
		}
		return nil
	})
	if err == nil {
		n.In[in] = v
	}
	return err
}

// constant adds a constant of n bytes.
func (e *filterEncoder) constant(t tensor.Type, n int64, fill func(dst []byte) error) (graph.Value, error) {
	h, data, err := e.w.Make(n, fill)
	if err != nil {
		return graph.None, err
	}
	return e.value(tensor.Fact{Type: t, Const: tensor.NewHashedConst(data, h)}), nil
}

func (e *filterEncoder) value(f tensor.Fact) graph.Value {
	e.g.Values = append(e.g.Values, graph.ValueInfo{Fact: f})
	e.producers = append(e.producers, -1)
	e.uses = append(e.uses, nil)
	return graph.Value(len(e.g.Values) - 1)
}
