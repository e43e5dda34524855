package numerics

import (
	"bytes"
	"math"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// product is a matrix product as the API's notes on matrix multiplication define it, for one board.
type product struct {
	geometry rknn.Geometry
	info     rknn.MatmulInfo
	m, k, n  int
	types    [3]uint32 // of A, B and C
	sA, sC   float32
	zA, zC   int
	sB       []float32 // of the matrix, its columns, or its groups of rows and columns
	zB       []int
}

func newProduct(g rknn.Geometry, info rknn.MatmulInfo) *product {
	return &product{geometry: g, info: info, m: int(info.M), k: int(info.K), n: int(info.N),
		types: rknn.ProductKinds[info.Kind], sA: 1, sC: 1, sB: []float32{1}, zB: []int{0}}
}

// sized is the same product of other sizes.
func (p *product) sized(s rknn.MatmulShape) *product {
	q := *p
	q.info.M, q.info.K, q.info.N = s.M, s.K, s.N
	q.m, q.k, q.n = int(s.M), int(s.K), int(s.N)
	return &q
}

// lanesC is the number of columns of C that lie together: 16 bytes.
func (p *product) lanesC() int { return int(128 / rknn.Bits[p.types[2]]) }

func (p *product) lanesA() int { return int(p.geometry.LanesA[p.types[0]]) }

// placeA is where the element of row i and column j of A lies, counted in elements.
func (p *product) placeA(i, j int) int {
	if p.info.AcLayout == 0 {
		return i*p.k + j
	}
	s := p.lanesA()
	return j/s*p.m*s + i*s + j%s
}

// placeC is that of C.
func (p *product) placeC(i, j int) int {
	if p.info.AcLayout == 0 {
		return i*p.n + j
	}
	s := p.lanesC()
	return j/s*p.m*s + i*s + j%s
}

// placeB is that of B in a layout.
func (p *product) placeB(layout int16, i, j int) int {
	switch layout {
	case 0:
		return i*p.n + j
	case 2:
		return j*p.k + i
	}
	sn, sk := int(p.geometry.TileN[p.types[1]]), int(p.geometry.TileK[p.types[1]])
	first, rows := 0, p.k
	if s := p.geometry.Segment; s > 0 && p.k > s {
		first = i / s * s
		rows = min(s, p.k-first)
	}
	i -= first
	return first*p.n + ((j/sn*(rows/sk)+i/sk)*sn+j%sn)*sk + i%sk
}

// dims are what attributes say of a matrix, 0 for A.
func (p *product) dims(matrix int) []int {
	m, k, n := p.m, p.k, p.n
	switch {
	case matrix == 0 && p.info.AcLayout == 0:
		return []int{m, k}
	case matrix == 0:
		return []int{k / p.lanesA(), m, p.lanesA()}
	case matrix == 2 && p.info.AcLayout == 0:
		return []int{m, n}
	case matrix == 2:
		return []int{n / p.lanesC(), m, p.lanesC()}
	case p.info.BLayout == 0:
		return []int{k, n}
	case p.info.BLayout == 2:
		return []int{n, k}
	}
	sn, sk := int(p.geometry.TileN[p.types[1]]), int(p.geometry.TileK[p.types[1]])
	return []int{n / sn, k / sk, sn, sk}
}

// attr is what creation must say of a matrix.
func (p *product) attr(matrix int) rknn.MatmulAttr {
	dims := p.dims(matrix)
	a := rknn.MatmulAttr{Rank: uint32(len(dims)), Kind: p.types[matrix]}
	a.Name[0] = "ABC"[matrix]
	for i, d := range dims {
		a.Dims[i] = uint32(d)
	}
	a.Size = uint32(count(dims)) * rknn.Bits[a.Kind] / 8
	return a
}

// packed are elements of a matrix as bytes; of INT4 the one with the lower index is in the low half.
func packed(kind uint32, v []float64) []byte {
	if kind != rknn.Int4 {
		return encoded(kind, v)
	}
	out := make([]byte, len(v)/2)
	for i, x := range v {
		out[i/2] |= byte(int(x)&15) << (i % 2 * 4)
	}
	return out
}

// entries are elements of a matrix: integers of the whole type, and for FLOAT16 quarters of small integers.
func (n *noise) entries(kind uint32, rows, cols int) tensor {
	x := newTensor(rows, cols)
	for i := range x.v {
		switch kind {
		case rknn.Int8:
			x.v[i] = float64(n.between(-128, 127))
		case rknn.Int4:
			x.v[i] = float64(n.between(-8, 7))
		default:
			x.v[i] = float64(n.between(-90, 90)) / 4
		}
	}
	return x
}

// scaleOf is the scale of an element of B.
func scaleOf[E any](list []E, i, j, n, group int) E {
	switch {
	case len(list) == 1:
		return list[0]
	case len(list) == n:
		return list[j]
	}
	return list[i/group*n+j]
}

// result is C.
func (p *product) result(a, b tensor) tensor {
	c := newTensor(p.m, p.n)
	whole := p.types[2] == rknn.Int32 || p.types[2] == rknn.Int16
	plain := whole || p.types[1] == rknn.Float16 // scales and zero points have no part
	group := int(p.info.Group)
	if group == 0 {
		group = 32
	}
	for i := range p.m {
		for j := range p.n {
			sum, sums := 0.0, 0.0
			for x := range p.k {
				if plain {
					sums += a.v[i*p.k+x] * b.v[x*p.n+j]
					continue
				}
				term := (a.v[i*p.k+x] - float64(p.zA)) * (b.v[x*p.n+j] - float64(scaleOf(p.zB, x, j, p.n, group)))
				sum += term
				sums += term * float64(scaleOf(p.sB, x, j, p.n, group))
			}
			c.v[i*p.n+j] = p.finished(sum, sums, j)
		}
	}
	return c
}

// finished is an element of C: sum is that of products of integers, scaled the same with the scales of B.
func (p *product) finished(sum, scaled float64, column int) float64 {
	switch p.types[2] {
	case rknn.Int32:
		return scaled
	case rknn.Int16:
		return min(max(scaled, -32768), 32767)
	case rknn.Int8:
		r := float32(sum) * p.sA
		r *= scaleOf(p.sB, 0, column, p.n, 1)
		r /= p.sC
		return min(max(math.RoundToEven(float64(r))+float64(p.zC), -128), 127)
	case rknn.Float16:
		return halfOf(scaled * float64(p.sA))
	case rknn.BFloat16:
		return bfloatOf(scaled * float64(p.sA))
	}
	return float64(float32(scaled * float64(p.sA)))
}

// operation is a product of a library with memory for its matrices.
type operation struct {
	*T
	ctx uintptr
	mem [3]*rknn.TensorMem
}

// behind are bytes of memory after a matrix, which nobody may change.
const behind = 48

// hold gives a matrix memory of its own, with more room than it needs.
func (o *operation) hold(p *product, matrix int) {
	a := p.attr(matrix)
	m := o.Mem(o.ctx, int(a.Size)+behind)
	copy(m.Bytes()[a.Size:], bytes.Repeat([]byte{0x5a}, behind))
	o.bind(p, matrix, m)
}

// bind binds memory by a copy of the attributes.
func (o *operation) bind(p *product, matrix int, m *rknn.TensorMem) {
	a := p.attr(matrix)
	o.OK("matmul_set_io_mem", o.ctx, cmem.Address(m), &a)
	o.mem[matrix] = m
}

// fill writes A or B.
func (o *operation) fill(p *product, matrix int, x tensor) {
	v := make([]float64, len(x.v))
	each(x.dims, func(at []int, i int) {
		place := p.placeA(at[0], at[1])
		if matrix == 1 {
			place = p.placeB(p.info.BLayout, at[0], at[1])
		}
		v[place] = x.v[i]
	})
	copy(o.mem[matrix].Bytes(), packed(p.types[matrix], v))
}

// computes runs the product and demands C and that nothing behind it was written.
func (o *operation) computes(what string, p *product, a, b tensor) {
	o.OK("matmul_run", o.ctx)
	size := int(p.attr(2).Size)
	got := decoded(p.types[2], o.mem[2].Bytes()[:size])
	for i, want := range p.result(a, b).v {
		if g := got[p.placeC(i/p.n, i%p.n)]; g != want {
			o.Failf("%s: type %d, %d x %d x %d, B_layout %d, AC_layout %d: C[%d][%d] is %v, want %v", what, p.info.Kind, p.m,
				p.k, p.n, p.info.BLayout, p.info.AcLayout, i/p.n, i%p.n, g, want)
		}
	}
	if rest := o.mem[2].Bytes()[size:]; len(rest) == behind {
		o.Check(bytes.Equal(rest, bytes.Repeat([]byte{0x5a}, behind)), "%s: memory behind C was written", what)
	}
}
