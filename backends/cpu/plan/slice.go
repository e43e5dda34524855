package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// cut is what is taken of one dimension.
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
func matchSlice(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Slice); !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	var lists [5][]int64
	for i := 1; i < len(lists); i++ {
		var ok bool
		if lists[i], ok = g.ints(n.In, i); !ok {
			return nil
		}
	}
	cuts := make([]cut, len(x.dims))
	for a, size := range x.dims {
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
		a, err := op.Axis(axis, len(x.dims))
		if err != nil {
			return nil
		}
		first, count := op.SliceRange(lists[1][i], lists[2][i], step, x.dims[a])
		if count != y.dims[a] {
			return nil
		}
		if count == 1 {
			step = 1
		}
		cuts[a] = cut{int(first), int(step), int(count)}
	}
	return cutPatch(p, i, cuts, true)
}

func matchStridedSlice(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.StridedSlice)
	if !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.values[n.In[0]]
	var lists [4][]tensor.Dim
	for i := 1; i < len(lists); i++ {
		v, ok := g.ints(n.In, i)
		if !ok {
			return nil
		}
		lists[i] = tensor.Of(v...).Dims
	}
	found, err := o.Cuts(lists[1], lists[2], lists[3], tensor.Of(x.dims...).Dims)
	if err != nil {
		return nil
	}
	cuts := make([]cut, len(x.dims))
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
func cutPatch(p *program, i int, cuts []cut, same bool) *patch {
	n := &p.net.graph.Nodes[i]
	total := 1
	for _, c := range cuts {
		total *= c.count
	}
	if total != p.net.values[n.Out[0]].count() {
		return nil
	}
	return p.plainly(i, &cutOp{cuts: cuts, dims: p.net.values[n.In[0]].dims, same: same}, 1)
}

// layout takes any order that the result can have too.
func (q *cutOp) layout(l *layouter, n *node) {
	o := nchw
	if q.same {
		o = l.order(n, n.in[0])
	}
	inOrder{o}.layout(l, n)
	dims, cuts := sizesIn(q.dims, o), sizesIn(q.cuts, o)
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
		cols := product(dims[axis:])
		of := cols / int(dims[axis])
		q.strips = &stripTask{columns: columns{split: true, rows: product(dims[:axis]), cols: cols,
			strips: []strip{{0, cuts[axis].first * of, cuts[axis].count * of}}}}
		return
	}
	t.box.to = strides(to)
	q.copying = t
}

func (q *cutOp) lower(*lowering, *node) step {
	if q.strips != nil {
		return q.strips.step()
	}
	return q.copying.step()
}

// matchExpand finds a repetition of the first input to the shape of the result.
func matchExpand(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Expand); !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	if _, ok := g.ints(n.In, 1); !ok {
		return nil
	}
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	if x.count() == y.count() {
		return viewPatch(p, i)
	}
	return p.plainly(i, &stridedCopyOp{task: repetition(x.dims, y.dims)}, 1)
}

func matchTile(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Tile); !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	if _, ok := g.ints(n.In, 1); !ok {
		return nil
	}
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	if x.count() == y.count() {
		return viewPatch(p, i)
	}
	from := append(slices.Repeat([]int64{1}, len(y.dims)-len(x.dims)), x.dims...)
	var t stridedCopyTask
	own, whole := strides(from), strides(y.dims)
	for d, n := range from { // a dimension is a repetition of what x has
		t.box.size = append(t.box.size, int(y.dims[d]/n), int(n))
		t.box.from = append(t.box.from, 0, own[d])
		t.box.to = append(t.box.to, int(n)*whole[d], whole[d])
	}
	return p.plainly(i, &stridedCopyOp{task: t}, 1)
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

func matchDepthToSpace(p *program, i int) *patch {
	n := &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.DepthToSpace)
	if !is || !p.net.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	return p.plainly(i, &blocksOp{toSpace: true, block: o.Block, mode: o.Mode, channelsLast: o.ChannelsLast,
		dims: p.net.values[n.In[0]].dims}, 1)
}

func matchSpaceToDepth(p *program, i int) *patch {
	n := &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.SpaceToDepth)
	if !is || !p.net.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	return p.plainly(i, &blocksOp{block: o.Block, channelsLast: o.ChannelsLast, dims: p.net.values[n.In[0]].dims}, 1)
}

func (q *blocksOp) layout(l *layouter, n *node) {
	o := nchw
	if !q.channelsLast {
		o = l.order(n, n.in[0])
	}
	inOrder{o}.layout(l, n)
	dims, perm := q.moves(sizesIn(q.dims, o), q.channelsLast || o == nhwc)
	q.permuteOp = permuteOp{size: 4, permutation: newPermutation(dims, perm)}
}

// moves returns the permutation of blocks that the operator is, given the sizes in memory.
func (q *blocksOp) moves(d []int64, channelsLast bool) (dims []int64, perm []int) {
	k := q.block
	switch {
	case !q.toSpace && channelsLast:
		return []int64{d[0], d[1] / k, k, d[2] / k, k, d[3]}, []int{0, 1, 3, 2, 4, 5}
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
