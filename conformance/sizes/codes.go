package sizes

import "slices"

// Products of codes take a graph's input, whose elements are multiples of an eighth, so that all kernels have the same
// codes. What they give is an output and nothing else, for it may be one code apart.

// quantized are the codes of x and what makes numbers of them.
func (m *maker) quantized(x string, scale float32, zero byte) (codes, s, z string) {
	s, z = m.constant(real(scale)), m.constant(constant{dtype: uint8s, data: []byte{zero}})
	return m.node("QuantizeLinear", []string{x, s, z}), s, z
}

// ended makes codes of a result and numbers of these.
func (m *maker) ended(y string, dims []dim) {
	const step = 0.25
	q, s, z := m.quantized(y, step, 120)
	name := m.node("DequantizeLinear", []string{q, s, z})
	m.steps[name] = step
	m.outs = append(m.outs, val{name: name, dims: dims})
}

// filter are numbers of 8-bit codes that follow from sizes.
func (m *maker) filter(dims []dim) string {
	return m.node("DequantizeLinear", []string{m.codes(dims, int8s), m.constant(real(0.015625)),
		m.constant(constant{dtype: int8s, data: []byte{0}})})
}

// exactInput picks an input.
func (m *maker) exactInput(f func(v val) bool) (v val, ok bool) {
	for _, k := range m.Perm(len(m.given)) {
		if f(m.given[k]) {
			return m.given[k], true
		}
	}
	return v, false
}

// coded is a product of codes, the second ones following from sizes.
func (m *maker) coded() bool {
	x, ok := m.exactInput(func(v val) bool { return len(v.dims) >= 2 })
	if !ok {
		return false
	}
	q, s, z := m.quantized(x.name, 0.125, 128)
	n := m.columns()
	y := m.node("MatMul", []string{m.node("DequantizeLinear", []string{q, s, z}), m.filter([]dim{x.last(), n})})
	if m.IntN(2) == 0 {
		y = m.node("Add", []string{y, m.operand([]dim{n})})
	}
	if m.IntN(2) == 0 {
		y = m.node("Relu", []string{y})
	}
	m.ended(y, slices.Concat(x.dims[:len(x.dims)-1], []dim{n}))
	return true
}

// codedImage is a convolution of codes.
func (m *maker) codedImage() bool {
	x, ok := m.exactInput(func(v val) bool { return len(v.dims) >= 3 && elements(v.dims) < mostElements/2 })
	if !ok {
		return false
	}
	w, out, attrs := m.windows(x.dims[2:])
	if empty(out) {
		return false
	}
	outputs, group, channels := fixed(int64(1+m.IntN(20))), int64(1), x.dims[1]
	if !channels.open() && m.IntN(2) == 0 {
		outputs, group, channels = channels, channels.n[0], fixed(1)
	}
	filter := []dim{outputs, channels}
	for _, k := range w {
		filter = append(filter, fixed(k.kernel))
	}
	q, s, z := m.quantized(x.name, 0.125, 128)
	in := []string{m.node("DequantizeLinear", []string{q, s, z}), m.filter(filter)}
	if m.IntN(2) == 0 {
		in = append(in, m.operand([]dim{outputs}))
	}
	m.ended(m.node("Conv", in, append(attrs, attr{"group", group})...), slices.Concat([]dim{x.dims[0], outputs}, out))
	return true
}

// codedInteger are products of integers, which are exact.
func (m *maker) codedInteger() bool {
	x, ok := m.exactInput(func(v val) bool { return len(v.dims) >= 2 })
	if !ok {
		return false
	}
	q, s, z := m.quantized(x.name, 0.125, 128)
	n := m.columns()
	dims := slices.Concat(x.dims[:len(x.dims)-1], []dim{n})
	w, none := m.codes([]dim{x.last(), n}, int8s), m.constant(constant{dtype: int8s, data: []byte{0}})
	if m.IntN(2) == 0 {
		y := m.node("MatMulInteger", []string{q, w, z, none})
		y = m.node("Mul", []string{m.node("Cast", []string{y}, attr{"to", int64(float)}), m.constant(real(1.0 / 512))})
		m.add(y, dims, false)
		return true
	}
	to, zero := m.constant(real(0.25)), m.constant(constant{dtype: uint8s, data: []byte{120}})
	y := m.node("QLinearMatMul", []string{q, s, z, w, m.constant(real(0.015625)), none, to, zero})
	name := m.node("DequantizeLinear", []string{y, to, zero})
	m.steps[name] = 0.25
	m.outs = append(m.outs, val{name: name, dims: dims})
	return true
}
