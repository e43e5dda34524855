package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// declaredOutput returns v, or, where inference does not know the number of dimensions or some of the sizes that the
// model declares for output o, a value that has them. What inference knows holds: a declaration that contradicts it is
// passed over.
func (sc *scope) declaredOutput(g *graphProto, o *valueInfo, v graph.Value) graph.Value {
	f := sc.b.Fact(v)
	if !o.ranked || f.Const != nil || f.Shape.Static() || !f.DType.Valid() {
		return v
	}
	sizes, news := sc.im.declaredSizes(o), !f.Shape.Ranked
	if f.Shape.Ranked {
		if len(f.Shape.Dims) != len(sizes) {
			return v
		}
		for i, d := range f.Shape.Dims {
			switch {
			case d.Known() && sizes[i] >= 0 && d.N != sizes[i]:
				return v
			case d.Sym == tensor.Unknown && sizes[i] >= 0:
				news = true
			default:
				sizes[i] = -1
			}
		}
	}
	if !news {
		return v
	}
	if i := slices.IndexFunc(g.nodes, func(n *nodeProto) bool { return slices.Contains(n.out, o.name) }); i >= 0 {
		sc.b.SetOrigin(g.nodes[i].index, g.nodes[i].name)
		defer sc.b.SetOrigin(-1, "")
	}
	return sc.b.Add(&op.Declare{Sizes: sizes}, v)
}

// declaredSizes are the sizes of a declared shape, -1 for open ones. A size of 0 is one that a tool did not know.
func (im *importer) declaredSizes(o *valueInfo) []int64 {
	sizes := make([]int64, len(o.dims))
	for i, d := range o.dims {
		size, sized := im.meta.Dims[d.param]
		if n, bound := im.sizes[d.param]; bound && !sized {
			size, sized = n, true
		}
		switch {
		case d.known && d.value > 0:
			sizes[i] = d.value
		case !d.known && sized:
			im.used[d.param] = true
			sizes[i] = size
		default:
			sizes[i] = -1
		}
	}
	return sizes
}

// useDeclaredRank gives input i the number of dimensions that the model declares for it.
func (n *node) useDeclaredRank(i int) {
	if !n.has(i) || n.arg(i) == graph.None || !n.fact(i).DType.Valid() {
		return
	}
	for sc := n.scope; sc != nil; {
		if o := sc.shapes[n.p.in[i]]; o != nil {
			if o.ranked {
				n.in[i] = n.b.Add(&op.Declare{Sizes: slices.Repeat([]int64{-1}, len(o.dims))}, n.in[i])
			}
			return
		}
		if sc.around != nil {
			sc = sc.around
		} else {
			sc = sc.parent
		}
	}
}
