package numerics

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// products multiplies matrices of every type in every layout on every board, with each kind of scales and zero points.
func products() *group {
	g := newGroup("products", "matrix products in every type, layout and quantization, on every board")
	for _, board := range rknn.Boards {
		for _, kind := range slices.Sorted(maps.Keys(rknn.ProductKinds)) {
			if rknn.ProductKinds[kind][1] == rknn.Int4 && board != "rk3588" && board != "rk3576" {
				continue
			}
			for layouts := range 6 {
				i := rknn.MatmulInfo{Kind: kind, BLayout: int16(layouts % 3), AcLayout: int16(layouts / 3)}
				on(g, board, fmt.Sprintf("type%d_B%d_AC%d", kind, i.BLayout, i.AcLayout), func(t *T) { t.multiplies(i) })
			}
			on(g, board, fmt.Sprintf("type%d_sizes", kind), func(t *T) { t.changesSizes(kind) })
			on(g, board, fmt.Sprintf("type%d_rows", kind), func(t *T) { t.everyHeight(kind) })
			on(g, board, fmt.Sprintf("type%d_shared_memory", kind), func(t *T) { t.sharesMemory(kind) })
			if board == "rk3588" {
				on(g, board, fmt.Sprintf("type%d_deep_and_high", kind), func(t *T) { t.deep(kind) })
			}
		}
		on(g, board, "segments", (*T).segments)
		for _, kind := range []uint32{1, 2, 10, 11} {
			if board != "rk3588" && board != "rk3576" && kind > 2 {
				continue
			}
			for _, k := range []int{4096, 8192, 8224, 10240, 16384} {
				on(g, board, fmt.Sprintf("type%d_K%d", kind, k), func(t *T) { t.probes(kind, k) })
			}
		}
	}
	return g
}

// multiple is the smallest K and N that fit every tile of the board for a type.
func (t *T) multiple(kind uint32) (k, n int) {
	g, types := t.Geometry(), rknn.ProductKinds[kind]
	k, n = int(g.TileK[types[1]]), int(g.TileN[types[1]])
	return max(k, int(g.LanesA[types[0]]), 32), n
}

// created makes a product and demands its attributes; info and attributes are overwritten at once, since they are the
// program's.
func (t *T) created(p *product) *operation {
	o, i, attrs := &operation{T: t}, p.info, rknn.MatmulIOAttr{}
	t.OK("matmul_create", &o.ctx, &i, &attrs)
	ctx := o.ctx
	t.Later(func() { t.Call("matmul_destroy", ctx) })
	o.says(p, &attrs)
	i, attrs = rknn.MatmulInfo{M: -1, Kind: 99}, rknn.MatmulIOAttr{}
	return o
}

// says demands what creation has said of the matrices.
func (o *operation) says(p *product, attrs *rknn.MatmulIOAttr) {
	for matrix, got := range []rknn.MatmulAttr{attrs.A, attrs.B, attrs.C} {
		want := p.attr(matrix)
		o.Check(got == want, "matrix %c: dims %v of %d, %d bytes of type %d, want %v of %d, %d bytes of type %d",
			"ABC"[matrix], got.Dims, got.Rank, got.Size, got.Kind, want.Dims, want.Rank, want.Size, want.Kind)
	}
}

// quantization is what is said of a product's scales.
type quantization struct {
	name   string
	kind   int16 // B_quant_type
	zeros  bool
	scales func(p *product) int // of B
}

func inGroups(p *product) int { return p.n * p.k / int(p.info.Group) }

var quantizations = []quantization{
	{name: "layer", kind: 0, scales: func(*product) int { return 1 }},
	{name: "layer_asymmetric", kind: 1, zeros: true, scales: func(*product) int { return 1 }},
	{name: "channel", kind: 2, scales: func(p *product) int { return p.n }},
	{name: "channel_asymmetric", kind: 3, zeros: true, scales: func(p *product) int { return p.n }},
	{name: "group", kind: 4, scales: inGroups},
	{name: "group_asymmetric", kind: 5, zeros: true, scales: inGroups},
}

// parameters chooses scales and zero points for a product and gives them to the library.
func (o *operation) parameters(p *product, q quantization, n *noise) {
	small := func() float32 { return float32(n.between(1, 7)) / 8 }
	zero := func(kind uint32) int {
		switch {
		case !q.zeros || kind == rknn.Float16:
			return 0
		case kind == rknn.Int4:
			return n.between(-8, 7)
		}
		return n.between(-128, 127)
	}
	p.sA, p.zA = small(), zero(p.types[0])
	p.sB, p.zB = make([]float32, q.scales(p)), make([]int, q.scales(p))
	for i := range p.sB {
		p.sB[i], p.zB[i] = small(), zero(p.types[1])
	}
	if p.types[2] == rknn.Int8 { // C of the whole range: a sum of k products is about 5000 sqrt(k)
		p.sC, p.zC = 293.5, zero(rknn.Int8)
		p.sA, p.sB[0] = 0.37, 0.91
	}
	list := func(z []int) []int32 {
		if !q.zeros {
			return nil
		}
		out := make([]int32, len(z))
		for i, v := range z {
			out[i] = int32(v)
		}
		return out
	}
	o.OK("matmul_set_quant_params", o.ctx, rknn.Quant("A", []float32{p.sA}, list([]int{p.zA})))
	o.OK("matmul_set_quant_params", o.ctx, rknn.Quant("B", p.sB, list(p.zB)))
	if p.types[2] == rknn.Int8 {
		o.OK("matmul_set_quant_params", o.ctx, rknn.Quant("C", []float32{p.sC}, list([]int{p.zC})))
	}
	got := new(float32)
	o.OK("matmul_get_quant_params", o.ctx, &rknn.QuantParams{}, got)
	o.Check(*got == slices.Max(p.sB), "rknn_matmul_get_quant_params: %v, want %v", *got, slices.Max(p.sB))
	scales, zeros := make([]float32, len(p.sB)+1), make([]int32, len(p.zB)+1)
	all := rknn.Quant("B", scales, zeros)
	o.OK("matmul_get_quant_params", o.ctx, all, got)
	o.Check(int(all.Scales) == len(p.sB) && slices.Equal(scales[:len(p.sB)], p.sB) && scales[len(p.sB)] == 0,
		"%d scales come back: %v, want %v", all.Scales, scales, p.sB)
	if q.zeros {
		o.Check(int(all.Zps) == len(p.zB) && slices.Equal(zeros[:len(p.zB)], list(p.zB)),
			"%d zero points come back: %v, want %v", all.Zps, zeros, p.zB)
	}
}

// multiplies computes products of a type in the given layouts, with each kind of scales, again with another A, another
// B and other scales.
func (t *T) multiplies(i rknn.MatmulInfo) {
	g, n := t.Geometry(), noise(i.Kind)
	k, cols := t.multiple(i.Kind)
	masks := []int{0}
	if t.Board() == "rk3588" {
		masks = []int{1, 2, 4, 3, 7, 0xffff}
	}
	for c, q := range quantizations {
		fp := rknn.ProductKinds[i.Kind][1] == rknn.Float16
		if c > 0 && fp || c > 3 && rknn.ProductKinds[i.Kind][2] == rknn.Int8 { // no scales; no group in the formula
			continue
		}
		i.M, i.K, i.N = int32(3+c), int32(k*(2+c%2)), int32(cols*(1+(c+1)%2))
		i.BQuant, i.AcQuant, i.Group = q.kind, int16(c%2), int16(16+c%2*16)
		p := newProduct(g, i)
		o := t.created(p)
		a, b := n.entries(p.types[0], p.m, p.k), n.entries(p.types[1], p.k, p.n)
		for matrix := range 3 {
			o.hold(p, matrix)
		}
		o.fill(p, 0, a)
		o.fill(p, 1, b)
		o.computes("without scales", p, a, b)
		for run := range 2 {
			if !fp {
				o.parameters(p, q, &n)
			}
			o.computes(q.name, p, a, b)
			if run == 0 {
				a = n.entries(p.types[0], p.m, p.k)
				o.fill(p, 0, a)
				o.OK("matmul_set_core_mask", o.ctx, masks[c%len(masks)])
				o.computes(q.name+", another A", p, a, b)
				b = n.entries(p.types[1], p.k, p.n)
				o.fill(p, 1, b)
			}
		}
	}
}

// changesSizes has one product change between sizes, forwards and back.
func (t *T) changesSizes(kind uint32) {
	k, cols := t.multiple(kind)
	for layouts := range 6 {
		n := noise(layouts)
		shapes := []rknn.MatmulShape{{M: 4, K: int32(2 * k), N: int32(cols)}, {M: 1, K: int32(k), N: int32(3 * cols)},
			{M: 7, K: int32(3 * k), N: int32(2 * cols)}}
		info := rknn.MatmulInfo{Kind: kind, BLayout: int16(layouts % 3), AcLayout: int16(layouts / 3)}
		first := newProduct(t.Geometry(), info)
		o, attrs, given := &operation{T: t}, make([]rknn.MatmulIOAttr, len(shapes)), slices.Clone(shapes)
		t.OK("matmul_create_dynamic_shape", &o.ctx, &info, len(shapes), given, attrs)
		t.Later(func() { t.Call("matmul_destroy", o.ctx) })
		clear(given)
		for i, s := range shapes {
			o.says(first.sized(s), &attrs[i])
		}
		for _, i := range []int{0, 2, 1, 0, 1, 2, 2} {
			p := first.sized(shapes[i])
			o.OK("matmul_set_dynamic_shape", o.ctx, &rknn.MatmulShape{M: shapes[i].M, K: shapes[i].K, N: shapes[i].N})
			a, b := n.entries(p.types[0], p.m, p.k), n.entries(p.types[1], p.k, p.n)
			for matrix := range 3 {
				o.hold(p, matrix)
			}
			o.fill(p, 0, a)
			o.fill(p, 1, b)
			o.computes("dynamic shape", p, a, b)
		}
	}
}

// sharesMemory puts all matrices into one memory, C over A, over B, and half over each.
func (t *T) sharesMemory(kind uint32) {
	k, cols := t.multiple(kind)
	n := noise(kind)
	for _, ac := range []int16{0, 1} {
		p := newProduct(t.Geometry(), rknn.MatmulInfo{M: 5, K: int32(2 * k), N: int32(7 * cols), Kind: kind, AcLayout: ac})
		o := t.created(p)
		sizes := [3]int{}
		for matrix := range 3 {
			sizes[matrix] = (int(p.attr(matrix).Size) + 63) &^ 63
		}
		base := t.Mem(o.ctx, sizes[0]+sizes[1]+2*sizes[2]+4096)
		part := func(matrix, at int) {
			size := p.attr(matrix).Size
			o.bind(p, matrix, t.OwnedMem(t.Ptr("create_mem_from_fd", o.ctx, base.FD, base.Virt, size, at)))
		}
		for _, at := range []int{0, sizes[0], sizes[0] / 2 &^ 63, sizes[0] + sizes[1]/2&^63, max(0, sizes[0]-64)} {
			part(0, 0)
			part(1, sizes[0])
			part(2, at)
			a, b := n.entries(p.types[0], p.m, p.k), n.entries(p.types[1], p.k, p.n)
			o.fill(p, 0, a)
			o.fill(p, 1, b)
			o.computes(fmt.Sprintf("C at byte %d of A and B", at), p, a, b)
		}
	}
}

// deep multiplies matrices of thousands of columns of A, with scales of groups where there are any, and of many rows.
func (t *T) deep(kind uint32) {
	k, cols := t.multiple(kind)
	n := noise(kind)
	for i, s := range []rknn.MatmulShape{{M: 3, K: int32(2112 / k * k), N: int32(3 * cols)},
		{M: 1101, K: int32(k), N: int32(cols)}, {M: 17, K: int32(4160 / k * k), N: int32(2 * cols)},
		{M: 5, K: int32(8320 / k * k), N: int32(cols)}} {
		p := newProduct(t.Geometry(), rknn.MatmulInfo{M: s.M, K: s.K, N: s.N, Kind: kind, BLayout: int16(2 * i % 4)})
		types := p.types
		scaled := types[1] != rknn.Float16 && types[2] != rknn.Int8
		if scaled {
			p.info.BQuant, p.info.Group = 5, 32
		}
		o := t.created(p)
		for matrix := range 3 {
			o.hold(p, matrix)
		}
		a, b := n.entries(types[0], p.m, p.k), n.entries(types[1], p.k, p.n)
		o.fill(p, 0, a)
		o.fill(p, 1, b)
		o.computes("deep", p, a, b)
		if scaled && types[0] == rknn.Int8 {
			o.parameters(p, quantizations[5], &n)
			o.computes("deep, with groups", p, a, b)
		}
	}
}

// everyHeight multiplies with every remainder of the rows of A by 16.
func (t *T) everyHeight(kind uint32) {
	k, cols := t.multiple(kind)
	n := noise(kind + 7)
	for m := 1; m <= 18; m++ {
		p := newProduct(t.Geometry(), rknn.MatmulInfo{M: int32(m), K: int32(k), N: int32(cols), Kind: kind,
			BLayout: int16(m % 2), AcLayout: int16(m / 2 % 2)})
		o := t.created(p)
		for matrix := range 3 {
			o.hold(p, matrix)
		}
		a, b := n.entries(p.types[0], p.m, p.k), n.entries(p.types[1], p.k, p.n)
		o.fill(p, 0, a)
		o.fill(p, 1, b)
		o.computes(fmt.Sprintf("%d rows", m), p, a, b)
	}
}

// segments multiplies a B of more rows than a segment has, in each layout, and has the library convert it.
func (t *T) segments() {
	g, n := t.Geometry(), noise(3)
	rows := 8192 + 96
	if g.Segment > 0 {
		rows = 2*g.Segment + 96
	}
	for layout := range int16(3) {
		p := newProduct(g, rknn.MatmulInfo{M: 1, K: int32(rows), N: 32, Kind: 2, BLayout: layout})
		a, b := n.entries(rknn.Int8, p.m, p.k), n.entries(rknn.Int8, p.k, p.n)
		o := t.created(p)
		for matrix := range 3 {
			o.hold(p, matrix)
		}
		o.fill(p, 0, a)
		o.fill(p, 1, b)
		o.computes("segments", p, a, b)
		if layout == 1 {
			in, out := encoded(rknn.Int8, b.v), make([]byte, len(b.v))
			t.OK("B_normal_layout_to_native_layout", in, out, rows, 32, &p.info)
			t.Check(slices.Equal(out, o.mem[1].Bytes()[:len(out)]), "the library's native layout differs")
		}
	}
	for _, kind := range []uint32{1, 2, 11} {
		types := rknn.ProductKinds[kind]
		if g.TileN[types[1]] == 0 {
			continue
		}
		k, cols := t.multiple(kind)
		p := newProduct(g, rknn.MatmulInfo{M: 1, K: int32(3 * k), N: int32(2 * cols), Kind: kind, BLayout: 1})
		b := n.entries(types[1], p.k, p.n)
		native := make([]float64, len(b.v))
		each(b.dims, func(at []int, i int) { native[p.placeB(1, at[0], at[1])] = b.v[i] })
		want, out := packed(types[1], native), make([]byte, p.attr(1).Size)
		t.OK("B_normal_layout_to_native_layout", packed(types[1], b.v), out, p.k, p.n, &p.info)
		t.Check(slices.Equal(out, want), "type %d: the library's native layout differs", kind)
	}
}

// probes multiplies by a B in the native layout whose elements at the ends of segments and tiles come to C one by one:
// each row of A has a single 1, but for the last, which has several.
func (t *T) probes(kind uint32, k int) {
	g, n := t.Geometry(), noise(k)
	_, cols := t.multiple(kind)
	var at []int
	for end := 0; end <= k; end += 2048 {
		for _, i := range []int{end - 33, end - 32, end - 1, end, end + 1, end + 31, end + 32} {
			if i >= 0 && i < k {
				at = append(at, i)
			}
		}
	}
	for _, layout := range []int16{1, 0, 2} {
		p := newProduct(g, rknn.MatmulInfo{M: int32(len(at) + 1), K: int32(k), N: int32(2 * cols), Kind: kind,
			BLayout: layout})
		a, b := newTensor(p.m, k), n.entries(p.types[1], k, p.n)
		for row, i := range at {
			a.v[row*k+i], a.v[len(at)*k+i] = 1, float64(row%3-1)
		}
		o := t.created(p)
		for matrix := range 3 {
			o.hold(p, matrix)
		}
		o.fill(p, 0, a)
		o.fill(p, 1, b)
		o.OK("matmul_run", o.ctx)
		got := decoded(p.types[2], o.mem[2].Bytes()[:p.attr(2).Size])
		for j := range p.n {
			sum := 0.0
			for row, i := range at {
				want := b.v[i*p.n+j]
				sum += want * float64(row%3-1)
				t.Check(got[p.placeC(row, j)] == want, "type %d, K %d, B_layout %d: B[%d][%d] is %v, want %v", kind, k, layout,
					i, j, got[p.placeC(row, j)], want)
			}
			t.Check(got[p.placeC(len(at), j)] == sum, "type %d, K %d, B_layout %d: C[%d][%d] is %v, want %v", kind, k,
				layout, len(at), j, got[p.placeC(len(at), j)], sum)
		}
	}
}
