package sizes

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// NNAPI has no operation that tells sizes, so that no operand of a model follows from them. What could be left of an
// earlier run there is what is packed, laid out and tabulated for it.

// ModelOf returns the model of a seed in the form that a door takes.
func ModelOf(seed uint64, d Door) *Model {
	if d.Name() == nnapi.API.Name {
		return randomCalls(seed)
	}
	return Random(seed)
}

// both makes a model of NNAPI and the same as ONNX.
type both struct {
	*maker
	calls *calls
	at    map[string]uint32 // the operands of values
}

func randomCalls(seed uint64) *Model {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 8)), builder: &builder{}, model: &Model{Seed: seed},
		steps: map[string]float64{}}
	b := &both{maker: m, calls: &calls{}, at: map[string]uint32{}}
	for range 1 + m.IntN(2) {
		for ok := false; !ok; { // NNAPI knows up to four dimensions
			own := *m
			own.builder, own.model = &builder{}, &Model{}
			own.in, own.model.In = slices.Clone(m.in), slices.Clone(m.model.In)
			own.sizes, own.given, own.values = slices.Clone(m.sizes), slices.Clone(m.given), slices.Clone(m.values)
			own.input()
			if v := own.given[len(own.given)-1]; len(v.dims) >= 2 && len(v.dims) <= 4 {
				m.in, m.model.In, m.sizes, m.given, m.values = own.in, own.model.In, own.sizes, own.given, own.values
				b.calls.in = append(b.calls.in, b.value(v))
				ok = true
			}
		}
	}
	for range 2 + m.IntN(5) {
		b.call()
	}
	m.outs = append(m.outs, m.values[len(m.values)-1])
	if v := m.values[m.IntN(len(m.values))]; m.IntN(2) == 0 {
		m.outs = append(m.outs, v)
	}
	var outs []val
	for _, v := range m.outs { // an input is no output
		if slices.Contains(b.calls.in, b.at[v.name]) {
			v = b.unary(v)
		}
		outs = append(outs, v)
	}
	m.outs = outs
	m.outputs()
	for _, o := range m.model.Out {
		b.calls.out = append(b.calls.out, b.at[o.Name])
	}
	m.model.calls = b.calls
	m.model.File = m.file(nil)
	return m.model
}

func (b *both) operand(o operand) uint32 {
	b.calls.operands = append(b.calls.operands, o)
	return uint32(len(b.calls.operands) - 1)
}

// value adds the operand of a value.
func (b *both) value(v val) uint32 {
	b.at[v.name] = b.operand(operand{code: nnapi.TensorFloat32, dims: sizesOf(v.dims)})
	return b.at[v.name]
}

func sizesOf(dims []dim) []uint32 {
	var n []uint32
	for _, d := range dims {
		if d.open() {
			n = append(n, 0)
		} else {
			n = append(n, uint32(d.n[0]))
		}
	}
	return n
}

func (b *both) scalar(v int64) uint32 {
	return b.operand(operand{code: nnapi.Int32, value: int32Bytes(v)})
}

func (b *both) yes(v byte) uint32 { return b.operand(operand{code: nnapi.Bool, value: []byte{v}}) }

func (b *both) real(v float32) uint32 {
	return b.operand(operand{code: nnapi.Float32, value: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))})
}

func (b *both) list(v ...int64) uint32 {
	return b.operand(operand{code: nnapi.TensorInt32, dims: []uint32{uint32(len(v))}, value: int32Bytes(v...)})
}

// numbers is a constant for both.
func (b *both) numbers(dims ...int64) (onnx string, at uint32, v []float32) {
	n := int64(1)
	var sizes []uint32
	for _, d := range dims {
		n, sizes = n*d, append(sizes, uint32(d))
	}
	v = make([]float32, n)
	var data []byte
	for i := range v {
		v[i] = float32(b.IntN(257)-128) / 256
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v[i]))
	}
	at = b.operand(operand{code: nnapi.TensorFloat32, dims: sizes, value: data})
	return b.constant(floats(dims, v)), at, v
}

// made adds an operation with one result, which ONNX has by the name y.
func (b *both) made(name, y string, dims []dim, exact bool, in ...uint32) val {
	v := b.add(y, dims, exact)
	b.calls.operations = append(b.calls.operations, operation{name, in, []uint32{b.value(v)}})
	return v
}

// call adds an operation on what there is.
func (b *both) call() {
	steps := []func() bool{b.connected, b.connected, b.image, b.image, b.image, b.channels, b.channels, b.product,
		b.together, b.rows, b.moved, b.moved, b.joined, b.mean, b.padded, b.resized, b.pooled, b.coded, b.coded}
	for range 20 {
		if steps[b.IntN(len(steps))]() {
			return
		}
	}
	b.unary(b.values[b.IntN(len(b.values))])
}

func (b *both) unary(x val) val {
	k := b.IntN(4)
	op := []string{"Relu", "Sigmoid", "Tanh", "Neg"}[k]
	name := []string{"RELU", "LOGISTIC", "TANH", "NEG"}[k]
	return b.made(name, b.node(op, []string{x.name}), x.dims, false, b.at[x.name])
}

// activation is a fused function, which follows y.
func (b *both) activation(y string) (string, uint32) {
	if b.IntN(2) == 0 {
		return y, b.scalar(0)
	}
	return b.node("Relu", []string{y}), b.scalar(1)
}

func (b *both) connected() bool {
	x, ok := b.some(func(v val) bool { return len(v.dims) == 2 && !v.dims[1].open() })
	if !ok {
		return false
	}
	k, n := x.dims[1].n[0], int64(1+b.IntN(40))
	w, at, _ := b.numbers(n, k)
	bias, biasAt, _ := b.numbers(n)
	y, act := b.activation(b.node("Gemm", []string{x.name, w, bias}, attr{"transB", int64(1)}))
	b.made("FULLY_CONNECTED", y, []dim{x.dims[0], fixed(n)}, false, b.at[x.name], at, biasAt, act)
	return true
}

// product multiplies a value by itself, transposed.
func (b *both) product() bool {
	x, ok := b.some(func(v val) bool {
		return len(v.dims) >= 2 && len(v.dims) <= 4 && elements(v.dims)*v.dims[len(v.dims)-2].most() < mostElements
	})
	if !ok {
		return false
	}
	rank := len(x.dims)
	perm := []int64{0, 1, 2, 3}[:rank]
	perm = slices.Clone(perm)
	perm[rank-1], perm[rank-2] = perm[rank-2], perm[rank-1]
	y := b.node("MatMul", []string{x.name, b.node("Transpose", []string{x.name}, attr{"perm", perm})})
	dims := slices.Clone(x.dims)
	dims[rank-1] = dims[rank-2]
	b.made("BATCH_MATMUL", y, dims, false, b.at[x.name], b.at[x.name], b.yes(0), b.yes(1))
	return true
}

func (b *both) together() bool {
	x, ok := b.some(func(v val) bool { return len(v.dims) <= 4 && !v.last().open() })
	if !ok {
		return false
	}
	w, at, _ := b.numbers(x.last().n[0])
	k := b.IntN(3)
	y, act := b.activation(b.node([]string{"Add", "Mul", "Sub"}[k], []string{x.name, w}))
	b.made([]string{"ADD", "MUL", "SUB"}[k], y, x.dims, false, b.at[x.name], at, act)
	return true
}

func (b *both) rows() bool {
	x, ok := b.some(func(v val) bool { return len(v.dims) <= 4 })
	if !ok {
		return false
	}
	axis := int64(b.IntN(len(x.dims)))
	y := b.node("Softmax", []string{x.name}, attr{"axis", axis})
	b.made("SOFTMAX", y, x.dims, false, b.at[x.name], b.real(1), b.scalar(axis))
	return true
}

func (b *both) moved() bool {
	x, ok := b.some(func(v val) bool { return len(v.dims) <= 4 && elements(v.dims) < mostElements/4 })
	if !ok {
		return false
	}
	rank := len(x.dims)
	if b.IntN(2) == 0 {
		var perm []int64
		dims := make([]dim, rank)
		for k, a := range b.Perm(rank) {
			perm, dims[k] = append(perm, int64(a)), x.dims[a]
		}
		y := b.node("Transpose", []string{x.name}, attr{"perm", perm})
		b.made("TRANSPOSE", y, dims, x.exact, b.at[x.name], b.list(perm...))
		return true
	}
	if x.last().open() { // all but the last become one
		return false
	}
	rest := fixed(1)
	for r := range Runs {
		for _, d := range x.dims[:rank-1] {
			rest.n[r] *= d.n[r]
		}
	}
	to := []int64{-1, x.last().n[0]}
	y := b.node("Reshape", []string{x.name, b.ints(to...)})
	b.made("RESHAPE", y, []dim{rest, x.last()}, x.exact, b.at[x.name], b.list(to...))
	return true
}

func (b *both) joined() bool {
	x, ok := b.some(func(v val) bool { return len(v.dims) <= 4 && elements(v.dims) < mostElements/4 })
	if !ok {
		return false
	}
	axis := b.IntN(len(x.dims))
	dims := slices.Clone(x.dims)
	dims[axis] = dims[axis].with(func(n int64) int64 { return 2 * n })
	y := b.node("Concat", []string{x.name, x.name}, attr{"axis", int64(axis)})
	b.made("CONCATENATION", y, dims, x.exact, b.at[x.name], b.at[x.name], b.scalar(int64(axis)))
	return true
}

func (b *both) mean() bool {
	x, ok := b.some(func(v val) bool { return len(v.dims) <= 4 })
	if !ok {
		return false
	}
	axis := b.IntN(len(x.dims))
	dims := slices.Clone(x.dims)
	dims[axis] = fixed(1)
	y := b.node("ReduceMean", []string{x.name}, attr{"axes", []int64{int64(axis)}})
	b.made("MEAN", y, dims, false, b.at[x.name], b.list(int64(axis)), b.scalar(1))
	return true
}

func (b *both) padded() bool {
	x, ok := b.some(func(v val) bool { return len(v.dims) <= 4 && elements(v.dims) < mostElements/32 })
	if !ok {
		return false
	}
	var begins, ends, pairs []int64
	dims := slices.Clone(x.dims)
	for a := range dims {
		p, q := int64(b.IntN(2)), int64(b.IntN(2))
		begins, ends, pairs = append(begins, p), append(ends, q), append(pairs, p, q)
		dims[a] = dims[a].with(func(n int64) int64 { return n + p + q })
	}
	y := b.node("Pad", []string{x.name, b.ints(slices.Concat(begins, ends)...)})
	at := b.operand(operand{code: nnapi.TensorInt32, dims: []uint32{uint32(len(dims)), 2}, value: int32Bytes(pairs...)})
	b.made("PAD", y, dims, false, b.at[x.name], at)
	return true
}
