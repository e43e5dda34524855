package sizes

import "slices"

// What follows from sizes: numbers, shapes, and whole operands.

// size is d as a scalar of the graph, known when the sizes of the inputs are.
func (m *maker) size(d dim) string {
	if !d.open() {
		return m.constant(long(d.n[0]))
	}
	return m.node("Gather", []string{m.node("Shape", []string{d.of}), m.constant(long(d.axis))})
}

// size1 is size as a list of one.
func (m *maker) size1(d dim) string {
	if !d.open() {
		return m.ints(d.n[0])
	}
	return m.node("Gather", []string{m.node("Shape", []string{d.of}), m.ints(d.axis)})
}

// shape is a list of sizes.
func (m *maker) shape(dims []dim) string {
	if !slices.ContainsFunc(dims, dim.open) {
		var v []int64
		for _, d := range dims {
			v = append(v, d.n[0])
		}
		return m.ints(v...)
	}
	var list []string
	for _, d := range dims {
		list = append(list, m.size1(d))
	}
	return m.node("Concat", list, attr{"axis", int64(0)})
}

// anySize is a size of an input that is open.
func (m *maker) anySize() dim {
	var list []dim
	for _, v := range m.given {
		for _, d := range v.dims {
			if d.open() {
				list = append(list, d)
			}
		}
	}
	return list[m.IntN(len(list))]
}

// number is a float scalar that follows from a size.
func (m *maker) number(d dim) string {
	return m.node("Mul", []string{m.node("Cast", []string{m.size(d)}, attr{"to", int64(float)}), m.constant(real(0.125))})
}

// numbers is the list 0, 1, ... up to a size.
func (m *maker) numbers(d dim) string {
	return m.node("Range", []string{m.constant(long(0)), m.size(d), m.constant(long(1))})
}

// ramp is 0.1, 0.2 ... along an axis, 1 on the others.
func (m *maker) ramp(dims []dim, axis int) string {
	r := m.node("Cast", []string{m.numbers(dims[axis])}, attr{"to", int64(float)})
	r = m.node("Mul", []string{m.node("Add", []string{r, m.constant(real(1))}), m.constant(real(0.1))})
	to := slices.Repeat([]int64{1}, len(dims))
	to[axis] = -1
	return m.node("Reshape", []string{r, m.ints(to...)})
}

// weights is a constant with the sizes of dims, those that are open being n.
func (m *maker) weights(dims []dim, n int64) string {
	var sizes []int64
	count := int64(1)
	for _, d := range dims {
		k := d.n[0]
		if d.open() {
			k = n
		}
		sizes, count = append(sizes, k), count*k
	}
	v := make([]float32, count)
	for i := range v {
		v[i] = float32(m.IntN(257)-128) / 256
	}
	return m.constant(floats(sizes, v))
}

// table is how many rows a table has from which operands are cut.
const table = 64

// operand is a float value with the sizes of dims that a plan can compute when it knows the sizes of the run. It is
// often another one for other sizes, sometimes a plain constant.
func (m *maker) operand(dims []dim) string {
	var open []int
	for a, d := range dims {
		if d.open() {
			open = append(open, a)
		}
	}
	if len(open) == 0 {
		return m.closed(dims)
	}
	axis := open[m.IntN(len(open))]
	whole := func(v string) string {
		if len(open) == 1 {
			return v
		}
		return m.node("Expand", []string{v, m.shape(dims)})
	}
	rows := make([]dim, len(dims)) // with a table's rows on the axis
	copy(rows, dims)
	rows[axis] = fixed(table)
	kind := m.IntN(12)
	if dims[axis].most() > table && (kind == 3 || kind == 4) {
		kind = 0
	}
	switch kind {
	case 0, 1:
		return whole(m.node("Mul", []string{m.ramp(dims, axis), m.weights(dims, 1)}))
	case 2:
		return whole(m.node("Sin", []string{m.node("Mul", []string{m.ramp(dims, axis), m.weights(dims, 1)})}))
	case 3:
		return whole(m.node("Gather", []string{m.weights(rows, 1), m.numbers(dims[axis])}, attr{"axis", int64(axis)}))
	case 4: // the last rows
		n := m.size1(dims[axis])
		from := m.node("Sub", []string{m.ints(table), n})
		return whole(m.node("Slice", []string{m.weights(rows, 1), from, m.ints(table), m.ints(int64(axis))}))
	case 5:
		t := m.node("Mul", []string{m.weights(dims, 1), m.number(dims[axis])})
		return m.node("Tile", []string{t, m.repeats(dims)})
	case 6:
		more := m.node("Sub", []string{m.size1(dims[axis]), m.ints(1)})
		list := []string{m.ints(make([]int64, len(dims)+axis)...), more}
		if rest := len(dims) - 1 - axis; rest > 0 {
			list = append(list, m.ints(make([]int64, rest)...))
		}
		pads := m.node("Concat", list, attr{"axis", int64(0)})
		mode := []string{"constant", "edge"}[m.IntN(2)]
		return whole(m.node("Pad", []string{m.weights(dims, 1), pads, m.constant(real(0.25))}, attr{"mode", mode}))
	case 7:
		half := m.node("Div", []string{m.number(dims[axis]), m.constant(real(2))})
		cond := m.node("Less", []string{m.ramp(dims, axis), half})
		return whole(m.node("Where", []string{cond, m.weights(dims, 1), m.weights(dims, 1)}))
	case 8:
		one := m.node("ConstantOfShape", []string{m.shape(dims)}, attr{"value", floats([]int64{1}, []float32{0.125})})
		return m.node("Mul", []string{m.node("CumSum", []string{one, m.constant(long(int64(axis)))}), m.weights(dims, 1)})
	case 9:
		all := m.node("ReduceProd", []string{m.shape(dims)}, attr{"keepdims", int64(0)})
		r := m.node("Range", []string{m.constant(long(0)), all, m.constant(long(1))})
		r = m.node("Cos", []string{m.node("Cast", []string{r}, attr{"to", int64(float)})})
		return m.node("Reshape", []string{r, m.shape(dims)})
	case 10:
		few := slices.Clone(dims)
		few[axis] = fixed(3)
		for _, a := range open {
			if a != axis {
				few[a] = fixed(1)
			}
		}
		return m.node("Resize", []string{m.weights(few, 1), "", "", m.shape(dims)}, attr{"mode", "nearest"},
			attr{"coordinate_transformation_mode", "asymmetric"}, attr{"nearest_mode", "floor"})
	default:
		v := whole(m.node("Mul", []string{m.ramp(dims, axis), m.weights(dims, 1)}))
		if len(dims) >= 2 {
			return m.node("Trilu", []string{v}, attr{"upper", int64(m.IntN(2))})
		}
		return m.node("Exp", []string{m.node("Neg", []string{v})})
	}
}

// repeats lists what a tensor with 1 on the open axes is repeated by.
func (m *maker) repeats(dims []dim) string {
	by := slices.Clone(dims)
	for a := range by {
		if !by[a].open() {
			by[a] = fixed(1)
		}
	}
	return m.shape(by)
}

// closed is an operand without open sizes.
func (m *maker) closed(dims []dim) string {
	d := m.anySize()
	switch m.IntN(5) {
	case 0:
		return m.weights(dims, 1)
	case 1:
		cond := m.node("Less", []string{m.size(d), m.constant(long((d.least() + d.most() + 1) / 2))})
		return m.node("Where", []string{cond, m.weights(dims, 1), m.weights(dims, 1)})
	case 2:
		pages := append([]dim{fixed(4)}, dims...)
		at := m.node("Mod", []string{m.size(d), m.constant(long(4))})
		return m.node("Gather", []string{m.weights(pages, 1), at})
	default:
		return m.node("Mul", []string{m.weights(dims, 1), m.number(d)})
	}
}

// codes are 8-bit codes with the sizes of dims.
func (m *maker) codes(dims []dim, dtype int64) string {
	all := m.node("ReduceProd", []string{m.shape(dims)}, attr{"keepdims", int64(0)})
	r := m.node("Range", []string{m.constant(long(0)), all, m.constant(long(1))})
	r = m.node("Add", []string{m.node("Mul", []string{r, m.constant(long(37))}), m.size(m.anySize())})
	middle := int64(100)
	if dtype == uint8s {
		middle = 0
	}
	r = m.node("Sub", []string{m.node("Mod", []string{r, m.constant(long(201))}), m.constant(long(middle))})
	return m.node("Reshape", []string{m.node("Cast", []string{r}, attr{"to", dtype}), m.shape(dims)})
}
