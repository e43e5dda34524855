package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// cut is the part of one dimension that is taken.
type cut struct{ first, step, count int }

// cutOp takes the cuts of a value.
type cutOp struct {
	cuts    []cut
	dims    []int64
	same    bool // the result has the operand's dimensions
	strips  *stripTask
	copying stridedCopyTask
}

// matchSlice finds a box with constant bounds.
func matchSlice(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Slice); !is || !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	var lists [5][]int64
	for i := 1; i < len(lists); i++ {
		var ok bool
		if lists[i], ok = g.Ints(n.In, i); !ok {
			return nil
		}
	}
	cuts := make([]cut, len(x.Dims))
	for a, size := range x.Dims {
		cuts[a] = cut{0, 1, int(size)}
	}
	for i := range lists[1] {
		axis, step := int64(i), int64(1)
		if lists[3] != nil {
			axis = lists[3][i]
		}
		if lists[4] != nil {
			step = lists[4][i]
		}
		a, err := op.Axis(axis, len(x.Dims))
		if err != nil {
			return nil
		}
		first, count := op.SliceRange(lists[1][i], lists[2][i], step, x.Dims[a])
		if count != y.Dims[a] {
			return nil
		}
		if count == 1 {
			step = 1
		}
		cuts[a] = cut{int(first), int(step), int(count)}
	}
	return cutPatch(p, i, cuts, true)
}

func matchStridedSlice(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.StridedSlice)
	if !is || !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.Values[n.In[0]]
	var lists [4][]tensor.Dim
	for i := 1; i < len(lists); i++ {
		v, ok := g.Ints(n.In, i)
		if !ok {
			return nil
		}
		lists[i] = tensor.Of(v...).Dims
	}
	found, err := o.Cuts(lists[1], lists[2], lists[3], tensor.Of(x.Dims...).Dims)
	if err != nil {
		return nil
	}
	cuts := make([]cut, len(x.Dims))
	same := true // every dimension stays
	for _, c := range found {
		if same = same && c.Axis >= 0 && !c.Drop; c.Axis < 0 {
			continue
		}
		if !c.Known || !c.Count.Known() && !c.Drop {
			return nil
		}
		q := cut{int(c.First), int(c.Step), int(c.Count.N)}
		if c.Drop {
			q = cut{int(c.First), 1, 1}
		}
		if q.count == 1 {
			q.step = 1
		}
		cuts[c.Axis] = q
	}
	return cutPatch(p, i, cuts, same)
}

// cutPatch takes the cuts of the first input of node i; nil when they are not as many elements as its result has.
func cutPatch(p *ir.Program, i int, cuts []cut, same bool) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	total := 1
	for _, c := range cuts {
		total *= c.count
	}
	if total != p.Net.Values[n.Out[0]].Count() {
		return nil
	}
	if !p.Net.IsFloat32(n.In[0]) {
		var index [][]int
		for _, c := range cuts {
			index = append(index, upTo(c.first, c.step, c.count))
		}
		return tablePatch(p, i, index, nil)
	}
	return p.Plainly(i, &cutOp{cuts: cuts, dims: p.Net.Values[n.In[0]].Dims, same: same}, 1)
}

// Layout takes any order that the result can have too.
func (q *cutOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := run.NCHW
	if q.same {
		o = l.Order(n, n.In[0])
	}
	ir.InOrder{Order: o}.Layout(l, n)
	dims, cuts := run.SizesIn(q.dims, o), run.SizesIn(q.cuts, o)
	t := stridedCopyTask{box: stridedCopy{from: strides(dims)}}
	axis, changed := 0, 0
	to := make([]int64, len(cuts))
	for a, c := range cuts {
		to[a] = int64(c.count)
		t.box.size = append(t.box.size, c.count)
		t.box.fromAt += c.first * t.box.from[a]
		t.box.from[a] *= c.step
		if c != (cut{0, 1, int(dims[a])}) {
			axis, changed = a, changed+1
		}
	}
	if changed <= 1 && cuts[axis].step == 1 { // columns of a matrix
		cols := run.Product(dims[axis:])
		of := cols / int(dims[axis])
		q.strips = &stripTask{Columns: run.Columns{Split: true, Rows: run.Product(dims[:axis]), Cols: cols,
			Strips: []run.Strip{{Buf: 0, At: cuts[axis].first * of, Cols: cuts[axis].count * of}}}}
		return
	}
	t.box.to = strides(to)
	q.copying = t
}

func (q *cutOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	if q.strips != nil {
		return q.strips.step()
	}
	return q.copying.step()
}

// blocksOp moves elements between channels and blocks of cells, in any order of dimensions.
type blocksOp struct {
	toSpace      bool
	block        int64
	mode         op.DepthMode
	channelsLast bool // in the model
	dims         []int64
	permuteOp
}

func matchDepthToSpace(p *ir.Program, i int) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.DepthToSpace)
	if !is || !movable(p.Net, n.In[0], n.Out[0]) {
		return nil
	}
	return p.Plainly(i, &blocksOp{toSpace: true, block: o.Block, mode: o.Mode, channelsLast: o.ChannelsLast,
		dims: p.Net.Values[n.In[0]].Dims}, 1)
}

func matchSpaceToDepth(p *ir.Program, i int) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.SpaceToDepth)
	if !is || !movable(p.Net, n.In[0], n.Out[0]) {
		return nil
	}
	return p.Plainly(i, &blocksOp{block: o.Block, mode: o.Mode, channelsLast: o.ChannelsLast,
		dims: p.Net.Values[n.In[0]].Dims}, 1)
}

func (q *blocksOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := run.NCHW
	if !q.channelsLast {
		o = l.Order(n, n.In[0])
	}
	ir.InOrder{Order: o}.Layout(l, n)
	dims, perm := q.moves(run.SizesIn(q.dims, o), q.channelsLast || o == run.NHWC)
	q.permuteOp = permuteOp{size: l.Net.Values[n.In[0]].Type.DType.Bits() / 8,
		permutation: newPermutation(dims, perm)}
}

// moves returns the permutation of blocks that the operator is, given the sizes in memory.
func (q *blocksOp) moves(d []int64, channelsLast bool) (dims []int64, perm []int) {
	k := q.block
	switch {
	case !q.toSpace && channelsLast && q.mode == op.DCR:
		return []int64{d[0], d[1] / k, k, d[2] / k, k, d[3]}, []int{0, 1, 3, 2, 4, 5}
	case !q.toSpace && channelsLast:
		return []int64{d[0], d[1] / k, k, d[2] / k, k, d[3]}, []int{0, 1, 3, 5, 2, 4}
	case !q.toSpace && q.mode == op.CRD:
		return []int64{d[0], d[1], d[2] / k, k, d[3] / k, k}, []int{0, 1, 3, 5, 2, 4}
	case !q.toSpace:
		return []int64{d[0], d[1], d[2] / k, k, d[3] / k, k}, []int{0, 3, 5, 1, 2, 4}
	case channelsLast && q.mode == op.DCR:
		return []int64{d[0], d[1], d[2], k, k, d[3] / k / k}, []int{0, 1, 3, 2, 4, 5}
	case channelsLast:
		return []int64{d[0], d[1], d[2], d[3] / k / k, k, k}, []int{0, 1, 4, 2, 5, 3}
	case q.mode == op.DCR:
		return []int64{d[0], k, k, d[1] / k / k, d[2], d[3]}, []int{0, 3, 4, 1, 5, 2}
	}
	return []int64{d[0], d[1] / k / k, k, k, d[2], d[3]}, []int{0, 1, 4, 2, 5, 3}
}
