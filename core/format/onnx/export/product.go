package export

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func productRules() []rule {
	return []rule{
		on(func(n *node, o *op.MatMul) error { return n.product(o.TransposeA, o.TransposeB) }),
		on(func(n *node, _ *op.FullyConnected) error {
			if r, err := n.rank(0); err != nil || r == 1 {
				y := n.one("MatMul", []string{n.x(0), n.transpose(n.x(1), 1, 0)})
				return n.plusBias(y, n.dtype(0))
			}
			return n.product(false, true)
		}),
		on(func(n *node, o *op.Einsum) error {
			in, d := n.xs(), n.dtype(0)
			for i := range in {
				in[i] = n.as(i, d)
			}
			return n.plain("Einsum", in, text("equation", o.Equation))
		}),
	}
}

// product is the matrix product of inputs 0 and 1, plus input 2.
func (n *node) product(transposeA, transposeB bool) error {
	d := n.dtype(0)
	if d.IsInt() && n.dtype(1).IsFloat() {
		d = n.dtype(1)
	}
	a, b := n.as(0, d), n.as(1, d)
	ra, rb := n.fact(0).Shape.Rank(), n.fact(1).Shape.Rank()
	bias := n.fact(2).Shape.Rank()
	if ra == 2 && rb == 2 && (transposeA || transposeB || n.has(2)) && (!n.has(2) || bias >= 0 && bias <= 2) &&
		d != tensor.Int32 && d != tensor.Int64 && d != tensor.Uint32 && d != tensor.Uint64 {
		return n.set(0, n.one("Gemm", []string{a, b, n.bias(d)}, flag("transA", transposeA), flag("transB", transposeB)), d)
	}
	for i, t := range []bool{transposeA, transposeB} {
		if !t {
			continue
		}
		r, err := n.rank(i)
		if err != nil {
			return err
		}
		if r < 2 {
			continue
		}
		perm := make([]int64, r)
		for k := range perm {
			perm[k] = int64(k)
		}
		perm[r-1], perm[r-2] = perm[r-2], perm[r-1]
		if i == 0 {
			a = n.transpose(a, perm...)
		} else {
			b = n.transpose(b, perm...)
		}
	}
	return n.plusBias(n.one("MatMul", []string{a, b}), d)
}

func (n *node) plusBias(y string, d tensor.DType) error {
	if n.has(2) {
		y = n.one("Add", []string{y, n.bias(d)})
	}
	return n.set(0, y, d)
}
