package rknn

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// The float16 products that drivers take: rows and columns of B in multiples of tile, on all chips, and as many rows as
// the smallest takes.
const (
	tile     = 32
	mostRows = 4096
	mostA    = 1 << 16 // rows of A
)

// matmulFunctions are those without which there are no products.
var matmulFunctions = []string{"rknn_matmul_create", "rknn_matmul_set_io_mem", "rknn_matmul_run", "rknn_matmul_destroy"}

// product is y = a * b + bias, of float16 with sums in float32, or of float32 that may be computed so.
type product struct {
	m, k, n    int64
	turned     bool // b is stored as [n,k]
	a, b, bias graph.Value
	y          graph.Value
}

// cost is the time of a chip of some tera-operations, and what a call does.
func (p *product) cost() time.Duration {
	return 20*time.Microsecond + time.Duration(2*p.m*p.k*p.n/1000)
}

// productOf reads a node as a product; why says what stands against it.
func (d *Device) productOf(g *graph.Graph, n *graph.Node, o device.Options) (p product, why string) {
	p.bias = graph.None
	switch o := n.Op.(type) {
	case *op.MatMul:
		if o.TransposeA {
			return p, "the first matrix is transposed"
		}
		p.turned = o.TransposeB
	case *op.FullyConnected:
		p.turned = true
	default:
		return p, "the driver computes compiled models and products of matrices alone"
	}
	for _, f := range matmulFunctions {
		if !d.driver.Has(f) {
			return p, "the driver has no function " + f
		}
	}
	p.a, p.b, p.y = n.In[0], n.In[1], n.Out[0]
	if len(n.In) > 2 {
		p.bias = n.In[2]
	}
	a, b := g.Fact(p.a), g.Fact(p.b)
	for _, f := range []tensor.Fact{a, b, g.Fact(p.y)} {
		if f.Quant != nil || f.DType != a.DType || f.DType != tensor.Float16 && !(f.DType == tensor.Float32 && o.Float16) {
			return p, "products are of float16, and of float32 where the program allows float16"
		}
	}
	da, okA := a.Shape.Ints()
	db, okB := b.Shape.Ints()
	switch {
	case !okA || !okB:
		return p, "sizes are open"
	case len(da) == 0 || len(db) != 2:
		return p, "the second operand is no matrix"
	case p.turned && b.Const == nil:
		return p, "the second matrix is transposed and no constant"
	}
	p.k, p.n = db[0], db[1]
	if p.turned {
		p.k, p.n = db[1], db[0]
	}
	p.m = 1
	for _, s := range da[:len(da)-1] {
		if p.m *= s; p.m > mostA {
			break
		}
	}
	if p.m < 1 || p.m > mostA || p.k < 1 || p.n < 1 || p.k%tile != 0 || p.n%tile != 0 || p.k > mostRows || p.n > mostRows {
		return p, "of [M,K] x [K,N], M is to be 1 to 65536, K and N multiples of 32 up to 4096"
	}
	if p.bias != graph.None {
		f := g.Fact(p.bias)
		s, ok := f.Shape.Ints()
		if !ok || len(s) != 1 || s[0] != p.n || f.Const == nil || f.DType != a.DType || f.Quant != nil {
			return p, "the bias is no constant with one number per column"
		}
	}
	return p, ""
}

// floats are the elements of float16 or float32 data.
func floats(d tensor.DType, data []byte) []float32 {
	if d == tensor.Float32 {
		out := make([]float32, len(data)/4)
		for i := range out {
			out[i] = float32At(data, i)
		}
		return out
	}
	out := make([]float32, len(data)/2)
	for i := range out {
		out[i] = tensor.Float16To32(uint16(data[2*i]) | uint16(data[2*i+1])<<8)
	}
	return out
}

// halves writes numbers of a type as float16.
func halves(to []byte, d tensor.DType, data []byte) {
	if d == tensor.Float16 {
		copy(to, data)
		return
	}
	for i := range len(data) / 4 {
		h := tensor.Float32To16(float32At(data, i))
		to[2*i], to[2*i+1] = byte(h), byte(h>>8)
	}
}

// matrix returns B as [k,n] in float16.
func (p *product) matrix(d tensor.DType, data []byte) []byte {
	out := make([]byte, 2*p.k*p.n)
	halves(out, d, data)
	if !p.turned {
		return out
	}
	turned := make([]byte, len(out))
	for n := range p.n {
		for k := range p.k {
			copy(turned[2*(k*p.n+n):], out[2*(n*p.k+k):2*(n*p.k+k)+2])
		}
	}
	return turned
}

func float32At(data []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
}
