package sizes

import "slices"

// mostElements bounds what a value may have: the reference is slow.
const mostElements = 40000

// step adds an operator on what there is.
func (m *maker) step() {
	steps := []func() bool{m.product, m.product, m.product, m.rightProduct, m.gemm, m.image, m.image, m.image,
		m.transposed, m.normalized, m.recurrent, m.together, m.together, m.selected, m.moved, m.moved, m.cut, m.padded,
		m.resized,
		m.unary, m.rows, m.reduced, m.pooled, m.joined, m.coded, m.coded, m.codedImage, m.codedInteger, m.einsum, m.branch,
		m.trips}
	for range 20 {
		if steps[m.IntN(len(steps))]() {
			return
		}
	}
	m.unary()
}

// outputs of a product that follow from a size, or do not.
func (m *maker) columns() dim {
	if m.IntN(3) == 0 {
		return m.anySize()
	}
	return fixed(int64(1 + m.IntN(40)))
}

// product multiplies by a matrix, or a batch of them.
func (m *maker) product() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) >= 2 && elements(v.dims) < mostElements/8 })
	if !ok {
		return false
	}
	n, k := m.columns(), x.last()
	w := []dim{k, n}
	lead := x.dims[:len(x.dims)-2]
	if len(lead) > 0 && m.IntN(3) == 0 {
		w = slices.Concat(lead, w)
	}
	y := m.node("MatMul", []string{x.name, m.operand(w)})
	out := slices.Concat(x.dims[:len(x.dims)-1], []dim{n})
	if m.IntN(2) == 0 {
		y = m.node("Add", []string{y, m.operand([]dim{n})})
	}
	if m.IntN(3) == 0 {
		y = m.node("Relu", []string{y})
	}
	if m.IntN(4) == 0 { // another one of the same value
		y = m.node("Add", []string{y, m.node("MatMul", []string{x.name, m.operand([]dim{k, n})})})
	}
	m.add(y, out, false)
	return true
}

// rightProduct multiplies a value that follows from sizes by another.
func (m *maker) rightProduct() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) == 2 && elements(v.dims) < mostElements/8 })
	if !ok {
		return false
	}
	rows := m.columns()
	m.add(m.node("MatMul", []string{m.operand([]dim{rows, x.dims[0]}), x.name}), []dim{rows, x.dims[1]}, false)
	return true
}

func (m *maker) gemm() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) == 2 && elements(v.dims) < mostElements/8 })
	if !ok {
		return false
	}
	n, k, rows := m.columns(), x.dims[1], x.dims[0]
	attrs := []attr{{"transB", int64(m.IntN(2))}}
	if m.IntN(3) == 0 {
		k, rows = rows, k
		attrs = append(attrs, attr{"transA", int64(1)})
	}
	w := []dim{k, n}
	if attrs[0].value == int64(1) {
		w = []dim{n, k}
	}
	if m.IntN(3) == 0 {
		attrs = append(attrs, attr{"alpha", float32(0.5)}, attr{"beta", float32(2)})
	}
	in := []string{x.name, m.operand(w)}
	if m.IntN(2) == 0 {
		in = append(in, m.operand([][]dim{{n}, {rows, n}, {rows, fixed(1)}}[m.IntN(3)]))
	}
	m.add(m.node("Gemm", in, attrs...), []dim{rows, n}, false)
	return true
}

// window is how a filter moves along an axis.
type window struct{ kernel, stride, dilation, before, after int64 }

// of returns the number of positions.
func (w window) of(d dim) dim {
	return d.with(func(n int64) int64 {
		n += w.before + w.after - (w.kernel-1)*w.dilation - 1
		if n < 0 {
			return 0
		}
		return n/w.stride + 1
	})
}

// windows picks windows for axes, and tells the attributes and the sizes that they leave.
func (m *maker) windows(axes []dim) (w []window, out []dim, attrs []attr) {
	var kernel, stride, dilation, before, after []int64
	same := m.IntN(2) == 0
	for range axes {
		x := window{kernel: int64(1 + m.IntN(3)), stride: 1, dilation: 1}
		switch {
		case same:
			x.kernel, x.before, x.after = 3, 1, 1
		case m.IntN(3) == 0:
			x.stride = 2
		case m.IntN(3) == 0:
			x.dilation = 2
		}
		if !same {
			x.before, x.after = int64(m.IntN(int(x.kernel))), int64(m.IntN(int(x.kernel)))
		}
		w = append(w, x)
		kernel, stride, dilation = append(kernel, x.kernel), append(stride, x.stride), append(dilation, x.dilation)
		before, after = append(before, x.before), append(after, x.after)
	}
	for a, d := range axes {
		out = append(out, w[a].of(d))
	}
	return w, out, []attr{{"kernel_shape", kernel}, {"strides", stride}, {"dilations", dilation},
		{"pads", slices.Concat(before, after)}}
}

// imageOf picks images of one to three dimensions.
func (m *maker) imageOf() (x val, ok bool) {
	return m.some(func(v val) bool {
		return len(v.dims) >= 3 && len(v.dims) <= 5 && elements(v.dims) < mostElements/2
	})
}

func empty(dims []dim) bool {
	return slices.ContainsFunc(dims, func(d dim) bool { return d.least() < 1 })
}

// image is a convolution, perhaps with what networks have behind it.
func (m *maker) image() bool {
	x, ok := m.imageOf()
	if !ok {
		return false
	}
	w, out, attrs := m.windows(x.dims[2:])
	if empty(out) {
		return false
	}
	outputs, group := fixed(int64(1+m.IntN(20))), int64(1)
	channels := x.dims[1]
	switch n := channels.n[0]; {
	case channels.open() || m.IntN(2) == 0:
		if m.IntN(5) == 0 {
			outputs = m.anySize()
		}
	case m.IntN(2) == 0: // each channel by itself
		outputs, group = channels, n
	case n%2 == 0:
		outputs, group = fixed(2*int64(1+m.IntN(8))), 2
	}
	if channels.n[0] == 16 && m.IntN(2) == 0 {
		outputs, group = fixed(16), 1
	}
	filter := []dim{outputs, channels.with(func(n int64) int64 { return n / group })}
	if group > 1 {
		filter[1] = fixed(channels.n[0] / group)
	}
	for _, x := range w {
		filter = append(filter, fixed(x.kernel))
	}
	if elements(filter)*elements(out) > 1<<24 {
		return false
	}
	in := []string{x.name, m.operand(filter)}
	if m.IntN(2) == 0 {
		in = append(in, m.operand([]dim{outputs}))
	}
	y := m.node("Conv", in, append(attrs, attr{"group", group})...)
	dims := slices.Concat([]dim{x.dims[0], outputs}, out)
	if m.IntN(3) == 0 {
		y = m.batchNormalized(y, outputs)
	}
	if m.IntN(3) == 0 {
		y = m.node("Relu", []string{y})
	}
	m.add(y, dims, false)
	return true
}

// batchNormalized multiplies channels and adds to them.
func (m *maker) batchNormalized(x string, channels dim) string {
	c := []dim{channels}
	one := m.node("ConstantOfShape", []string{m.shape(c)}, attr{"value", floats([]int64{1}, []float32{0.75})})
	return m.node("BatchNormalization", []string{x, m.operand(c), m.operand(c), m.operand(c), one})
}

func (m *maker) transposed() bool {
	x, ok := m.some(func(v val) bool {
		return (len(v.dims) == 3 || len(v.dims) == 4) && elements(v.dims) < mostElements/16
	})
	if !ok {
		return false
	}
	outputs := fixed(int64(1 + m.IntN(6)))
	dims, filter := []dim{x.dims[0], outputs}, []dim{x.dims[1], outputs}
	var kernel, stride []int64
	for _, d := range x.dims[2:] {
		k, s := int64(1+m.IntN(4)), int64(1+m.IntN(3))
		kernel, stride, filter = append(kernel, k), append(stride, s), append(filter, fixed(k))
		dims = append(dims, d.with(func(n int64) int64 { return (n-1)*s + k }))
	}
	attrs := []attr{{"kernel_shape", kernel}, {"strides", stride}}
	if m.IntN(3) == 0 {
		attrs = append(attrs, attr{"auto_pad", "SAME_UPPER"})
		for a := range kernel {
			dims[2+a] = x.dims[2+a].with(func(n int64) int64 { return n * stride[a] })
		}
	}
	in := []string{x.name, m.operand(filter)}
	if m.IntN(2) == 0 {
		in = append(in, m.operand([]dim{outputs}))
	}
	m.add(m.node("ConvTranspose", in, attrs...), dims, false)
	return true
}

// normalized are normalizations whose parameters follow from sizes.
func (m *maker) normalized() bool {
	eps := attr{"epsilon", float32(0.05)}
	switch m.IntN(3) {
	case 0:
		x, ok := m.some(func(v val) bool { return len(v.dims) >= 2 })
		if !ok {
			return false
		}
		last := []dim{x.last()}
		m.add(m.node("LayerNormalization", []string{x.name, m.operand(last), m.operand(last)}, eps), x.dims, false)
	case 1:
		x, ok := m.imageOf()
		if !ok {
			return false
		}
		c := x.dims[1:2]
		m.add(m.node("InstanceNormalization", []string{x.name, m.operand(c), m.operand(c)}, eps), x.dims, false)
	default:
		x, ok := m.some(func(v val) bool { return len(v.dims) >= 2 })
		if !ok {
			return false
		}
		m.add(m.batchNormalized(x.name, x.dims[1]), x.dims, false)
	}
	return true
}

func (m *maker) recurrent() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) == 3 && elements(v.dims) < 2000 })
	if !ok {
		return false
	}
	kind := m.IntN(3)
	op, gates := []string{"LSTM", "GRU", "RNN"}[kind], []int64{4, 3, 1}[kind]
	hidden, one := int64(1+m.IntN(6)), fixed(1)
	in := []string{x.name, m.operand([]dim{one, fixed(gates * hidden), x.dims[2]}),
		m.operand([]dim{one, fixed(gates * hidden), fixed(hidden)})}
	if m.IntN(2) == 0 {
		in = append(in, m.operand([]dim{one, fixed(2 * gates * hidden)}))
	}
	attrs := []attr{{"hidden_size", hidden}}
	if op == "GRU" {
		attrs = append(attrs, attr{"linear_before_reset", int64(m.IntN(2))})
	}
	m.add(m.nodeN(op, 1, in, attrs...)[0], []dim{x.dims[0], one, x.dims[1], fixed(hidden)}, false)
	return true
}

// together are functions of a value and an operand that is broadcast.
func (m *maker) together() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 0 })
	if !ok {
		return false
	}
	from := m.IntN(len(x.dims))
	dims := slices.Clone(x.dims[from:])
	for a := range dims {
		if m.IntN(4) == 0 {
			dims[a] = fixed(1)
		}
	}
	in := []string{x.name, m.operand(dims)}
	op := []string{"Add", "Mul", "Sub", "Max", "Min", "PRelu"}[m.IntN(6)]
	if op != "PRelu" && m.IntN(2) == 0 {
		slices.Reverse(in)
	}
	m.add(m.node(op, in), x.dims, false)
	return true
}

// selected chooses by what follows from sizes, or by an input.
func (m *maker) selected() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 0 })
	if !ok {
		return false
	}
	var cond string
	if x.exact && m.IntN(2) == 0 {
		cond = m.node("Less", []string{x.name, m.constant(real(0.0625))})
	} else {
		axis := m.IntN(len(x.dims))
		at := m.node("Div", []string{m.size(x.dims[axis]), m.constant(long(2))})
		to := slices.Repeat([]int64{1}, len(x.dims))
		to[axis] = -1
		cond = m.node("Less", []string{m.node("Reshape", []string{m.numbers(x.dims[axis]), m.ints(to...)}), at})
	}
	m.add(m.node("Where", []string{cond, x.name, m.operand(x.dims)}), x.dims, false)
	return true
}
