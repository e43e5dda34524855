package sizes

import "slices"

// moved changes the shape or the order of a value.
func (m *maker) moved() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 0 && elements(v.dims) < mostElements/4 })
	if !ok {
		return false
	}
	rank := len(x.dims)
	switch m.IntN(5) {
	case 0: // two neighbours become one
		if rank < 2 {
			return false
		}
		a := m.IntN(rank - 1)
		dims := slices.Clone(x.dims)
		for r := range Runs {
			dims[a].n[r] *= dims[a+1].n[r]
		}
		var to []string
		for k, d := range x.dims {
			switch {
			case k == a:
				to = append(to, m.node("Mul", []string{m.size1(d), m.size1(x.dims[k+1])}))
			case k != a+1:
				to = append(to, m.size1(d))
			}
		}
		shape := to[0]
		if len(to) > 1 {
			shape = m.node("Concat", to, attr{"axis", int64(0)})
		}
		m.add(m.node("Reshape", []string{x.name, shape}), slices.Delete(dims, a+1, a+2), x.exact)
	case 1:
		perm, dims := m.Perm(rank), make([]dim, rank)
		var p []int64
		for k, a := range perm {
			dims[k], p = x.dims[a], append(p, int64(a))
		}
		m.add(m.node("Transpose", []string{x.name}, attr{"perm", p}), dims, x.exact)
	case 2: // a new axis that has a size of its own
		if rank > 4 {
			return false
		}
		d := m.anySize()
		a := m.IntN(rank + 1)
		dims := slices.Insert(slices.Clone(x.dims), a, d)
		if elements(dims) > mostElements {
			return false
		}
		y := m.node("Unsqueeze", []string{x.name, m.ints(int64(a))})
		m.add(m.node("Expand", []string{y, m.shape(dims)}), dims, x.exact)
	case 3:
		a := m.IntN(rank)
		d := m.anySize()
		dims := slices.Clone(x.dims)
		for r := range Runs {
			dims[a].n[r] *= d.n[r]
		}
		if elements(dims) > mostElements {
			return false
		}
		by := slices.Repeat([]dim{fixed(1)}, rank)
		by[a] = d
		m.add(m.node("Tile", []string{x.name, m.shape(by)}), dims, x.exact)
	default: // rows in another order
		a := m.IntN(rank)
		n := m.node("Sub", []string{m.size(x.dims[a]), m.constant(long(1))})
		at := m.node("Sub", []string{n, m.numbers(x.dims[a])})
		m.add(m.node("Gather", []string{x.name, at}, attr{"axis", int64(a)}), x.dims, x.exact)
	}
	return true
}

// cut takes a part whose end follows from a size.
func (m *maker) cut() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 0 })
	if !ok {
		return false
	}
	a := m.IntN(len(x.dims))
	dims := slices.Clone(x.dims)
	half := m.node("Add", []string{m.node("Div", []string{m.size1(x.dims[a]), m.ints(2)}), m.ints(1)})
	first := x.dims[a].with(func(n int64) int64 { return min(n, n/2+1) })
	rest := x.dims[a].with(func(n int64) int64 { return n - min(n, n/2+1) })
	end := m.node("Min", []string{half, m.size1(x.dims[a])})
	if rest.least() > 0 && m.IntN(2) == 0 {
		parts := m.node("Concat", []string{end, m.node("Sub", []string{m.size1(x.dims[a]), end})}, attr{"axis", int64(0)})
		two := m.nodeN("Split", 2, []string{x.name, parts}, attr{"axis", int64(a)})
		dims[a] = first
		m.add(two[0], dims, x.exact)
		dims[a] = rest
		m.add(two[1], dims, x.exact)
		return true
	}
	dims[a] = first
	m.add(m.node("Slice", []string{x.name, m.ints(0), end, m.ints(int64(a))}), dims, x.exact)
	return true
}

// padded adds as many cells as follow from a size.
func (m *maker) padded() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 0 && elements(v.dims) < mostElements/8 })
	if !ok {
		return false
	}
	rank, a := len(x.dims), m.IntN(len(x.dims))
	d := m.anySize()
	more := m.node("Div", []string{m.size1(d), m.ints(2)})
	list := []string{more}
	if a > 0 {
		list = slices.Insert(list, 0, m.ints(make([]int64, a)...))
	}
	list = append(list, m.ints(make([]int64, rank)...))
	if rest := rank - 1 - a; rest > 0 {
		list = append(list, m.ints(make([]int64, rest)...))
	}
	pads := m.node("Concat", list, attr{"axis", int64(0)})
	dims := slices.Clone(x.dims)
	for r := range Runs {
		dims[a].n[r] += d.n[r] / 2
	}
	mode := []string{"constant", "edge"}[m.IntN(2)]
	m.add(m.node("Pad", []string{x.name, pads, m.constant(real(0.5))}, attr{"mode", mode}), dims, x.exact)
	return true
}

// resized resamples to twice the size and one more.
func (m *maker) resized() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) == 4 && elements(v.dims) < mostElements/8 })
	if !ok {
		return false
	}
	dims, to := slices.Clone(x.dims), []string{m.size1(x.dims[0]), m.size1(x.dims[1])}
	for a := 2; a < 4; a++ {
		dims[a] = dims[a].with(func(n int64) int64 { return 2*n + 1 })
		twice := m.node("Mul", []string{m.size1(x.dims[a]), m.ints(2)})
		to = append(to, m.node("Add", []string{twice, m.ints(1)}))
	}
	attrs := []attr{{"mode", "linear"}, {"coordinate_transformation_mode", []string{"half_pixel", "align_corners",
		"asymmetric"}[m.IntN(3)]}}
	if m.IntN(3) == 0 {
		attrs = []attr{{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}
	}
	m.add(m.node("Resize", []string{x.name, "", "", m.node("Concat", to, attr{"axis", int64(0)})}, attrs...), dims, false)
	return true
}

func (m *maker) unary() bool {
	x := m.values[m.IntN(len(m.values))]
	op := []string{"Relu", "Sigmoid", "Tanh", "Neg", "HardSwish", "Erf", "Abs", "Softplus"}[m.IntN(8)]
	m.add(m.node(op, []string{x.name}), x.dims, x.exact && (op == "Relu" || op == "Neg" || op == "Abs"))
	return true
}

// rows are functions of rows.
func (m *maker) rows() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 0 })
	if !ok {
		return false
	}
	axis := m.IntN(len(x.dims))
	if m.IntN(3) == 0 {
		m.add(m.node("CumSum", []string{x.name, m.constant(long(int64(axis)))}), x.dims, false)
		return true
	}
	m.add(m.node("Softmax", []string{x.name}, attr{"axis", int64(axis)}), x.dims, false)
	return true
}

func (m *maker) reduced() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 1 })
	if !ok {
		return false
	}
	a := m.IntN(len(x.dims))
	dims := slices.Clone(x.dims)
	dims[a] = fixed(1)
	op := []string{"ReduceMean", "ReduceMax", "ReduceL2"}[m.IntN(3)]
	m.add(m.node(op, []string{x.name}, attr{"axes", []int64{int64(a)}}), dims, x.exact && op == "ReduceMax")
	return true
}

func (m *maker) pooled() bool {
	x, ok := m.imageOf()
	if !ok {
		return false
	}
	if m.IntN(4) == 0 {
		dims := slices.Clone(x.dims)
		for a := 2; a < len(dims); a++ {
			dims[a] = fixed(1)
		}
		m.add(m.node("GlobalAveragePool", []string{x.name}), dims, false)
		return true
	}
	_, out, attrs := m.windows(x.dims[2:])
	attrs = attrs[:2] // no dilation, no padding
	for a, d := range x.dims[2:] {
		k, s := attrs[0].value.([]int64)[a], attrs[1].value.([]int64)[a]
		out[a] = window{kernel: k, stride: s, dilation: 1}.of(d)
	}
	if empty(out) {
		return false
	}
	op := []string{"MaxPool", "AveragePool"}[m.IntN(2)]
	m.add(m.node(op, []string{x.name}, attrs...), slices.Concat(x.dims[:2], out), x.exact && op == "MaxPool")
	return true
}

// joined is a value and what follows from sizes, one behind the other.
func (m *maker) joined() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) > 0 && elements(v.dims) < mostElements/4 })
	if !ok {
		return false
	}
	a := m.IntN(len(x.dims))
	more := slices.Clone(x.dims)
	more[a] = m.columns()
	dims := slices.Clone(x.dims)
	for r := range Runs {
		dims[a].n[r] += more[a].n[r]
	}
	if elements(dims) > mostElements {
		return false
	}
	in := []string{x.name, m.operand(more)}
	if m.IntN(2) == 0 {
		slices.Reverse(in)
	}
	m.add(m.node("Concat", in, attr{"axis", int64(a)}), dims, false)
	return true
}

// einsum multiplies by what follows from sizes in another order of dimensions.
func (m *maker) einsum() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) == 3 && elements(v.dims) < mostElements/8 })
	if !ok {
		return false
	}
	n := m.columns()
	y := m.node("Einsum", []string{x.name, m.operand([]dim{n, x.dims[2]})}, attr{"equation", "abc,dc->adb"})
	m.add(y, []dim{x.dims[0], n, x.dims[1]}, false)
	return true
}

// body is the graph of a branch or a loop, which reads values of m.
func (m *maker) body() *maker {
	b := *m
	m.count++
	b.builder = &builder{prefix: m.name() + "_"}
	return &b
}

// branch chooses one of two products by a size.
func (m *maker) branch() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) == 2 && elements(v.dims) < mostElements/8 })
	if !ok {
		return false
	}
	d, n := m.anySize(), m.columns()
	var bodies [2]*builder
	for k := range bodies {
		b := m.body()
		y := b.node("MatMul", []string{x.name, b.operand([]dim{x.dims[1], n})})
		b.out = append(b.out, declare(y, float, []any{"", ""}))
		bodies[k] = b.builder
	}
	cond := m.node("Less", []string{m.size(d), m.constant(long((d.least() + d.most() + 1) / 2))})
	y := m.node("If", []string{cond}, attr{"then_branch", bodies[0]}, attr{"else_branch", bodies[1]})
	m.add(y, []dim{x.dims[0], n}, false)
	return true
}

// trips repeats a product as often as a size says.
func (m *maker) trips() bool {
	x, ok := m.some(func(v val) bool { return len(v.dims) == 2 && elements(v.dims) < 2000 && v.dims[1].most() < 12 })
	if !ok {
		return false
	}
	b := m.body()
	state := b.name()
	for _, p := range []struct {
		name  string
		dtype int64
	}{{b.name(), int64s}, {b.name(), bools}, {state, float}} {
		shape := []any{}
		if p.dtype == float {
			shape = []any{"", ""}
		}
		b.in = append(b.in, declare(p.name, p.dtype, shape))
	}
	y := b.node("Tanh", []string{b.node("MatMul", []string{state, b.operand([]dim{x.dims[1], x.dims[1]})})})
	yes := b.constant(constant{dtype: bools, data: []byte{1}})
	b.out = append(b.out, declare(b.node("Identity", []string{yes}), bools, []any{}), declare(y, float, []any{"", ""}))
	out := m.nodeN("Loop", 1, []string{m.size(m.anySize()), "", x.name}, attr{"body", b.builder})
	m.add(out[0], x.dims, false)
	return true
}
