package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// cut is what is taken of one dimension.
type cut struct{ first, step, count int }

// slice adds a box with constant bounds.
func (b *builder) slice(n *graph.Node) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	if !x.fast() || !y.fast() {
		return false
	}
	var lists [5][]int64
	for i := 1; i < len(lists); i++ {
		var ok bool
		if lists[i], ok = b.ints(n.In, i); !ok {
			return false
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
			return false
		}
		first, count := op.SliceRange(lists[1][i], lists[2][i], step, x.dims[a])
		if count != y.dims[a] {
			return false
		}
		if count == 1 {
			step = 1
		}
		cuts[a] = cut{int(first), int(step), int(count)}
	}
	return b.cut(n, cuts, true)
}

func (b *builder) stridedSlice(n *graph.Node, o *op.StridedSlice) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	if !x.fast() || !y.fast() {
		return false
	}
	var lists [4][]tensor.Dim
	for i := 1; i < len(lists); i++ {
		v, ok := b.ints(n.In, i)
		if !ok {
			return false
		}
		lists[i] = tensor.Of(v...).Dims
	}
	found, err := o.Cuts(lists[1], lists[2], lists[3], tensor.Of(x.dims...).Dims)
	if err != nil {
		return false
	}
	cuts := make([]cut, len(x.dims))
	same := true // every dimension stays
	for _, c := range found {
		if same = same && c.Axis >= 0 && !c.Drop; c.Axis < 0 {
			continue
		}
		if !c.Known || !c.Count.Known() && !c.Drop {
			return false
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
	return b.cut(n, cuts, same)
}

// cut adds a step that takes the cuts of a node's first input; same says that the output has the input's dimensions.
func (b *builder) cut(n *graph.Node, cuts []cut, same bool) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	total := 1
	for _, c := range cuts {
		total *= c.count
	}
	if total != y.count() {
		return false
	}
	last := same && b.inLast(n.In[0])
	dims := x.dims
	if last {
		dims = lastDims(dims)
		cuts = append(append([]cut{cuts[0]}, cuts[2:]...), cuts[1])
	}
	t := boxTask{box: box{from: strides(dims)}}
	axis, changed := 0, 0
	for a, c := range cuts {
		t.box.size = append(t.box.size, c.count)
		t.box.fromAt += c.first * t.box.from[a]
		t.box.from[a] *= c.step
		if c != (cut{0, 1, int(dims[a])}) {
			axis, changed = a, changed+1
		}
	}
	s := step{reads: []int{b.form(n.In[0], last)}}
	s.writes = []int{b.make(n.Out[0], last)}
	if changed <= 1 && cuts[axis].step == 1 { // columns of a matrix
		cols := product(dims[axis:])
		of := cols / int(dims[axis])
		b.strips(s, stripTask{split: true, rows: product(dims[:axis]), cols: cols,
			strips: []strip{{0, cuts[axis].first * of, cuts[axis].count * of}}})
		return true
	}
	to := make([]int64, len(cuts))
	for a, c := range cuts {
		to[a] = int64(c.count)
	}
	t.box.to = strides(to)
	b.boxStep(s, t)
	return true
}

// expand adds a step that repeats the first input of n to the shape of its output.
func (b *builder) expand(n *graph.Node) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	if _, ok := b.ints(n.In, 1); !ok || !x.fast() || !y.fast() {
		return false
	}
	if x.count() == y.count() {
		return b.view(n)
	}
	b.repeat(b.make(n.Out[0], false), b.wantPlain(n.In[0]), x.dims, y.dims)
	return true
}

// repeat adds a step that broadcasts src, of sizes from, to the sizes to.
func (b *builder) repeat(dst, src int, from, to []int64) {
	t := boxTask{box: box{size: sizes(to), from: make([]int, len(to)), to: strides(to)}}
	lead := len(to) - len(from)
	for i, s := range strides(from) {
		if from[i] != 1 {
			t.box.from[lead+i] = s
		}
	}
	b.boxStep(step{reads: []int{src}, writes: []int{dst}}, t)
}

func (b *builder) tile(n *graph.Node) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	if _, ok := b.ints(n.In, 1); !ok || !x.fast() || !y.fast() {
		return false
	}
	if x.count() == y.count() {
		return b.view(n)
	}
	from := append(slices.Repeat([]int64{1}, len(y.dims)-len(x.dims)), x.dims...)
	var t boxTask
	own, whole := strides(from), strides(y.dims)
	for d, n := range from { // a dimension is a repetition of what x has
		t.box.size = append(t.box.size, int(y.dims[d]/n), int(n))
		t.box.from = append(t.box.from, 0, own[d])
		t.box.to = append(t.box.to, int(n)*whole[d], whole[d])
	}
	s := step{reads: []int{b.wantPlain(n.In[0])}}
	s.writes = []int{b.make(n.Out[0], false)}
	b.boxStep(s, t)
	return true
}

// depthToSpace spreads channels over blocks of cells, in whatever form the images are.
func (b *builder) depthToSpace(n *graph.Node, o *op.DepthToSpace) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	last := !o.ChannelsLast && b.inLast(n.In[0])
	d, k := x.dims, o.Block
	if last {
		d = lastDims(d)
	}
	var dims []int64
	perm := []int{0, 1, 3, 2, 4, 5}
	switch channelsLast := last || o.ChannelsLast; {
	case channelsLast && o.Mode == op.DCR:
		dims = []int64{d[0], d[1], d[2], k, k, d[3] / k / k}
	case channelsLast:
		dims, perm = []int64{d[0], d[1], d[2], d[3] / k / k, k, k}, []int{0, 1, 4, 2, 5, 3}
	case o.Mode == op.DCR:
		dims, perm = []int64{d[0], k, k, d[1] / k / k, d[2], d[3]}, []int{0, 3, 4, 1, 5, 2}
	default:
		dims, perm = []int64{d[0], d[1] / k / k, k, k, d[2], d[3]}, []int{0, 1, 4, 2, 5, 3}
	}
	from := b.form(n.In[0], last)
	b.permuteFor(b.node, b.make(n.Out[0], last), from, dims, perm)
	return true
}

func (b *builder) spaceToDepth(n *graph.Node, o *op.SpaceToDepth) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	last := !o.ChannelsLast && b.inLast(n.In[0])
	d, k := x.dims, o.Block
	if last {
		d = lastDims(d)
	}
	dims, perm := []int64{d[0], d[1], d[2] / k, k, d[3] / k, k}, []int{0, 3, 5, 1, 2, 4}
	if last || o.ChannelsLast {
		dims, perm = []int64{d[0], d[1] / k, k, d[2] / k, k, d[3]}, []int{0, 1, 3, 2, 4, 5}
	}
	from := b.form(n.In[0], last)
	b.permuteFor(b.node, b.make(n.Out[0], last), from, dims, perm)
	return true
}
