package numerics

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// sources are the types in which programs may give an input.
var sources = []uint32{rknn.Float32, rknn.Float16, rknn.BFloat16, rknn.Int8, rknn.Uint8, rknn.Int16, rknn.Uint16,
	rknn.Int32, rknn.Uint32, rknn.Int64, rknn.Bool}

// moved are a net's results of one input: its elements in another order, as its own type; and negated, if they are
// reals, or as they are.
func moved(elem int64, q, other *codes) func(b *build, in []value) []result {
	return func(b *build, in []value) []result {
		x := in[0]
		perm := make([]int, len(x.dims))
		for i := range perm {
			perm[i] = len(perm) - 1 - i
		}
		turned := b.transpose(x, perm...)
		var second value
		switch elem {
		case rknn.ONNXFloat, rknn.ONNXHalf, rknn.ONNXDouble:
			second = b.neg(x)
		default:
			second = b.unary("Identity", nil, x, func(v float64) float64 { return v })
		}
		return []result{{value: turned, quant: q}, {value: second, quant: other}}
	}
}

// element is an element type of a model's input and first output, and the codes of the second.
type element struct {
	name     string
	elem     int64
	quant    *codes
	negative *codes
	wide     bool // also in large shapes
}

// elementTypes are those that inputs of models can have. Scales that are no powers of two tell one multiplication from
// two, and a division from a multiplication by the reciprocal.
var elementTypes = []element{
	{"float32", rknn.ONNXFloat, nil, nil, true},
	{"float16", rknn.ONNXHalf, nil, nil, true},
	{"float64", rknn.ONNXDouble, nil, nil, false},
	{"int8", rknn.ONNXInt8, nil, nil, false},
	{"uint8", rknn.ONNXUint8, nil, nil, true},
	{"int16", rknn.ONNXInt16, nil, nil, false},
	{"uint16", rknn.ONNXUint16, nil, nil, false},
	{"int32", rknn.ONNXInt32, nil, nil, false},
	{"int64", rknn.ONNXInt64, nil, nil, false},
	{"bool", rknn.ONNXBool, nil, nil, false},
	{"quantized_int8", rknn.ONNXFloat, &codes{rknn.ONNXInt8, 0.0473, -13}, &codes{rknn.ONNXUint8, 0.0391, 131}, true},
	{"quantized_uint8", rknn.ONNXFloat, &codes{rknn.ONNXUint8, 0.731, 101}, &codes{rknn.ONNXInt8, 0.913, -7}, true},
	{"quantized_int16", rknn.ONNXFloat, &codes{rknn.ONNXInt16, 0.00313, -1001}, &codes{rknn.ONNXUint16, 0.0027, 31001},
		false},
	{"quantized_uint16", rknn.ONNXFloat, &codes{rknn.ONNXUint16, 0.0113, 30011}, &codes{rknn.ONNXInt16, 0.0127, 333},
		false},
}

// normalization is what the metadata say of an input.
type normalization struct {
	name            string
	mean, std       []float32
	swapped, planar bool
}

var normalizations = []normalization{
	{name: "plain"},
	{name: "mean", mean: []float32{1.5}},
	{name: "std", std: []float32{3}},
	{name: "swapped", swapped: true},
	{name: "channels", mean: []float32{0.5, -2.25, 7.1}, std: []float32{2, 0.7, 58.395}},
	{name: "swapped_channels", mean: []float32{0.5, -2.25, 7.1}, std: []float32{2, 0.7, 58.395}, swapped: true},
	{name: "planar", planar: true},
	{name: "means", mean: []float32{0.5, -2.25, 7.1}},
	{name: "swapped_std", std: []float32{2, 0.7, 58.395}, swapped: true},
	{name: "planar_channels", mean: []float32{0.5, -2.25, 7.1}, std: []float32{2, 0.7, 58.395}, planar: true},
}

// fits tells whether an input of a type and shape can be normalized so.
func (z normalization) fits(e element, dims []int) bool {
	if z.name == "plain" {
		return true
	}
	if !(&port{elem: e.elem}).reals() {
		return false
	}
	images := len(dims) == 4 && dims[1] == 3
	if len(z.mean) > 1 || z.swapped || z.planar {
		return images
	}
	return true
}

// wide tells whether large inputs are normalized so.
func (z normalization) wide() bool { return z.name == "plain" || z.name == "swapped_channels" }

// shapesOfInputs have no two equal sizes, or numbers of channels beyond a native layout's lanes; the large ones are
// those at which conversions are done piece by piece, by tables or by wide kernels.
var (
	shapesOfInputs = [][]int{{2, 3, 4, 5}, {1, 21, 3, 2}, {1, 1, 7, 3}, {1, 32, 2, 3}, {7}, {3, 5}, {2, 3, 7},
		{2, 3, 1, 5, 4}}
	largeShapes = [][]int{{2, 3, 41, 53}, {1, 18, 33, 37}, {1, 2, 67, 71}, {9001}}
)

// large tells whether sizes are those of the large shapes.
func large(dims []int) bool { return count(dims) > 5000 }

// otherChannels are images of other numbers of channels than three.
func otherChannels(g *group) {
	means, stds := []float32{0.5, -2.25, 7.1, -0.3, 11}, []float32{2, 0.7, 58.395, 1.25, 0.33}
	for c := 1; c <= 5; c++ {
		for _, e := range elementTypes {
			if c == 3 || !e.wide || !(&port{elem: e.elem}).reals() {
				continue
			}
			for _, z := range normalizations {
				p := port{name: "x", elem: e.elem, dims: []int{2, c, 3, 5}, quant: e.quant, mean: z.mean, std: z.std,
					swapped: z.swapped, planar: z.planar}
				if len(p.mean) > 1 {
					p.mean = means[:c]
				}
				if len(p.std) > 1 {
					p.std = stds[:c]
				}
				n := &net{in: []port{p}, build: moved(e.elem, e.quant, e.negative), opset: 21}
				on(g, "rk3588", fmt.Sprintf("%s_%d_channels_%s", e.name, c, z.name), func(t *T) { t.everyFormat(n) })
			}
		}
	}
}

// formats gives inputs of every type and shape in every type, with and without pass_through, by every path, and takes
// outputs in every type and format, bound or not.
func formats() *group {
	g := newGroup("formats", "inputs in every type, order and memory, outputs in every type and format")
	for _, e := range elementTypes {
		for _, dims := range slices.Concat(shapesOfInputs, largeShapes) {
			for _, z := range normalizations {
				if !z.fits(e, dims) || large(dims) && !(e.wide && z.wide()) {
					continue
				}
				n := &net{in: []port{{name: "x", elem: e.elem, dims: dims, quant: e.quant, mean: z.mean, std: z.std,
					swapped: z.swapped, planar: z.planar}}, build: moved(e.elem, e.quant, e.negative), opset: 21}
				name := fmt.Sprintf("%s_%s_%s", e.name, shapeName(dims), z.name)
				on(g, "rk3588", name, func(t *T) { t.everyFormat(n) })
				if len(dims) == 4 && z.name == "plain" && !large(dims) {
					on(g, "rk3566", name, func(t *T) { t.everyFormat(n) })
				}
			}
		}
	}
	otherChannels(g)
	return g
}

func shapeName(dims []int) string {
	s := ""
	for i, d := range dims {
		if i > 0 {
			s += "x"
		}
		s += fmt.Sprint(d)
	}
	return s
}

// everyFormat runs a net once for each way of its input; the formats of outputs follow one another.
func (t *T) everyFormat(n *net) {
	first := t.start(n)
	first.attributes("after rknn_init")
	noise, k := noise(len(n.in[0].dims)), 0
	for _, path := range []path{copied, bound, offset, strided, planes, planesBound} {
		if path >= strided && (len(n.in[0].dims) != 4 || n.in[0].planar) {
			continue
		}
		s := first.dup()
		for _, raw := range []bool{false, true} {
			for _, kind := range sources {
				w := way{kind, raw, path}
				if !s.judged(w) || large(n.in[0].dims) && !w.broad() || !w.apart(k) {
					continue
				}
				s.give(0, w, &noise)
				var bound []target
				if k%4 != 0 {
					for i := range s.out {
						bound = append(bound, s.bindOutput(i, k+i))
					}
				}
				s.run()
				for _, g := range bound {
					s.holds(w.String(), g)
				}
				if k%3 == 0 || bound == nil {
					s.fetch(w.String(), k)
				}
				k++
			}
		}
		s.attributes("after bindings")
	}
}

// apart tells whether a way is worth a run: where memory lies has no part in how elements are converted.
func (w way) apart(k int) bool {
	return w.path == copied || w.path == bound || w.raw || w.kind == rknn.Float32 || (int(w.kind)+k)%3 == 0
}

// broad tells whether a way is one in which large inputs are given.
func (w way) broad() bool {
	return w.path == copied && slices.Contains([]uint32{rknn.Float32, rknn.Uint8, rknn.Int8, rknn.Int64}, w.kind) ||
		w.path == strided && w.kind == rknn.Uint8 || w.path == bound && (w.kind == rknn.Float32 || w.kind == rknn.Int8)
}

// judged tells whether the API's notes say what a way gives: not whether channels of codes are exchanged. pass_through
// has the reported type whatever is said, so one is enough.
func (s *session) judged(w way) bool {
	p := &s.net.in[0]
	if w.raw {
		return w.kind == rknn.Float32
	}
	return !(p.swapped && p.coded(w.kind))
}
