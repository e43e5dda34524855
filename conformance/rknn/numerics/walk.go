package numerics

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// A walk is a sequence of calls that a seed chooses, for a few contexts of one model at a time: other shapes, other
// inputs, other memory, duplicates, results that are held, refused calls in between, runs in other threads. What each
// call must answer follows from the calls before it, which the walk keeps account of.

// source is where a run finds an input.
type source struct {
	set      bool
	elements tensor          // of rknn_inputs_set
	mem      *rknn.TensorMem // bound memory
	kind     uint32          // of what lies there
	raw      bool
	extra    int // rows of each image beyond those of the input
}

// walker is one context of a walk.
type walker struct {
	*session
	all     *net // with all sets
	current int
	sources []source
	bound   map[int]target // outputs
	done    bool           // results are those of the shape in use
	frames  uint64
	held    []held
}

// held is a buffer of rknn_outputs_get that is not released yet.
type held struct {
	o    rknn.Output
	want []byte
}

// enter makes a walker of a context.
func (t *T) enter(n *net, ctx uintptr) *walker {
	w := &walker{session: &session{T: t, ctx: ctx}, all: n, sources: make([]source, len(n.in)), bound: map[int]target{}}
	w.shaped(n.largestSet())
	return w
}

// shaped takes the sizes of a set.
func (w *walker) shaped(set int) {
	w.current, w.net = set, w.all.sized(set)
	_, _, w.out = w.net.compute(w.net.zeros())
	w.in = make([]tensor, len(w.net.in))
}

// choose calls rknn_set_input_shapes.
func (w *walker) choose(set int, n *noise) {
	attrs := make([]rknn.TensorAttr, len(w.all.in))
	for i, p := range w.all.sized(set).in {
		a := p.attr(rknn.QueryInput, i, w.Board())
		if len(p.dims) == 4 && n.below(2) == 0 {
			a.Format = rknn.NCHW
			for d, size := range p.dims {
				a.Dims[d] = uint32(size)
			}
		}
		attrs[i] = rknn.TensorAttr{Index: a.Index, Rank: a.Rank, Dims: a.Dims, Format: a.Format, Name: a.Name}
	}
	slices.Reverse(attrs)
	w.OK("set_input_shapes", w.ctx, len(attrs), attrs)
	if set == w.current {
		return
	}
	w.shaped(set)
	for i := range w.sources {
		if w.sources[i].mem == nil {
			w.sources[i] = source{}
		}
	}
	w.done = false
}

// refusedShape asks for sizes that are in no set.
func (w *walker) refusedShape() {
	var attrs []rknn.TensorAttr
	for i, p := range w.net.in {
		a := p.attr(rknn.QueryInput, i, w.Board())
		a.Dims[1] += 77
		attrs = append(attrs, a)
	}
	w.Is(rknn.Fail, "set_input_shapes", w.ctx, len(attrs), attrs)
}

// set calls rknn_inputs_set for an input, or binds memory that is large enough for every set.
func (w *walker) set(n *noise) {
	i := n.below(len(w.sources))
	p := &w.net.in[i]
	s := &w.sources[i]
	kinds := []uint32{rknn.Float32, rknn.Int8, rknn.Uint8, rknn.Float16, rknn.Int32}
	next := source{set: true, kind: kinds[n.below(len(kinds))], raw: n.below(4) == 0}
	if s.mem == nil && n.below(3) > 0 {
		w.give(i, way{next.kind, next.raw, copied}, n)
		*s = source{set: true, elements: w.in[i]}
		return
	}
	if next.raw {
		next.kind = p.kind()
	}
	if len(p.dims) == 4 && p.dims[0] > 1 {
		next.extra = n.below(2) * 3
	}
	if len(p.dims) != 4 || len(w.all.sets) > 1 { // h_stride belongs to sizes that may change
		next.extra = 0
	}
	most := 0
	for _, set := range w.all.sets {
		elems := count(set[i])
		if next.extra > 0 {
			elems = elems / set[i][2] * (set[i][2] + next.extra)
		}
		most = max(most, elems)
	}
	next.mem = w.room(most*elemBytes(next.kind), i, n.below(3) == 0)
	a := p.attr(rknn.QueryCurrentInput, i, w.Board())
	a.Kind = next.kind
	if next.raw {
		a.PassThrough = 1
	}
	if next.extra > 0 {
		a.HStride = uint32(p.dims[2] + next.extra)
	}
	w.OK("set_io_mem", w.ctx, cmem.Address(next.mem), &a)
	*s = next
	w.refill(i, n)
}

// refill writes new elements into memory that is bound to input i.
func (w *walker) refill(i int, n *noise) {
	s := &w.sources[i]
	if s.mem == nil {
		return
	}
	copy(s.mem.Bytes(), encoded(s.kind, n.elements(s.kind, int(s.mem.Size)/elemBytes(s.kind), w.net.span)))
}

// reads are the elements that a run finds for input i.
func (w *walker) reads(i int) tensor {
	s, p := &w.sources[i], &w.net.in[i]
	if s.mem == nil {
		return s.elements
	}
	rows := 0
	if len(p.dims) == 4 {
		rows = p.dims[2] + s.extra
	}
	return p.taken(decoded(s.kind, s.mem.Bytes()), s.kind, s.raw, rows)
}

// bindOne binds an output to memory that holds its largest size.
func (w *walker) bindOne(n *noise) {
	i := n.below(len(w.out))
	small, set := w.net, w.current
	w.shapedOutputs(w.all.largestSet())
	g := w.bindOutput(i, n.below(30))
	w.net = small
	w.shapedOutputs(set)
	w.bound[i] = g
}

// shapedOutputs has w.out be that of a set.
func (w *walker) shapedOutputs(set int) {
	n := w.all.sized(set)
	_, _, w.out = n.compute(n.zeros())
}

// run runs the context, sometimes in another thread, and demands what lies in bound memory.
func (w *walker) runAndCheck(n *noise) {
	ready := true
	for _, s := range w.sources {
		ready = ready && s.set
	}
	e := rknn.RunExtend{NonBlock: int32(n.below(2))}
	if !ready {
		w.Is(rknn.Fail, "run", w.ctx, &e)
		return
	}
	for i := range w.in {
		w.in[i] = w.reads(i)
	}
	if n.below(3) == 0 {
		w.Parallel(1, func(own *suite.T, _ int) { own.OK("run", w.ctx, &e) })
	} else {
		w.OK("run", w.ctx, &e)
	}
	w.frames++
	w.Check(e.Frame == w.frames, "frame_id is %d, want %d", e.Frame, w.frames)
	_, w.want, _ = w.net.compute(w.in)
	w.done = true
	for i := range w.out {
		if g, is := w.bound[i]; is {
			p := &w.out[i]
			g.size = count(p.dims) * elemBytes(g.kind)
			if len(p.dims) == 4 {
				g.size = count(p.dimsIn(g.format, g.c2)) * elemBytes(g.kind)
			}
			w.same(fmt.Sprintf("output %d bound as type %d in format %d, dims %v", i, g.kind, g.format, p.dims), g.kind,
				g.mem.Bytes()[:g.size], p.laid(w.want[i], g.kind, g.format, g.c2), w.net.tol)
		}
	}
}

// look fetches results, or is refused where there are none; one buffer may be held.
func (w *walker) look(n *noise) {
	if !w.done {
		w.Is(rknn.Fail, "outputs_get", w.ctx, 1, []rknn.Output{{}}, nil)
		return
	}
	w.fetch("walk", n.below(5))
	if n.below(2) == 0 {
		o, e := []rknn.Output{{Index: uint32(n.below(len(w.out))), WantFloat: 1}}, rknn.OutputExtend{}
		w.OK("outputs_get", w.ctx, 1, o, &e)
		w.Check(e.Frame == w.frames, "frame_id of results is %d, want %d", e.Frame, w.frames)
		w.held = append(w.held, held{o[0], slices.Clone(cmem.Span[byte](o[0].Buf, int(o[0].Size)))})
	}
}

// release demands that what is held is as it was, and releases it.
func (w *walker) release() {
	for _, h := range w.held {
		w.Check(slices.Equal(cmem.Span[byte](h.o.Buf, len(h.want)), h.want), "a result that was held has changed")
		o := []rknn.Output{h.o}
		w.OK("outputs_release", w.ctx, 1, o)
		w.Check(o[0].Buf == 0, "buf is not cleared")
	}
	w.held = nil
}

// forget ends the memory of a bound input: the next run is refused, and then nothing is bound.
func (w *walker) forget(n *noise) {
	i := n.below(len(w.sources))
	s := &w.sources[i]
	if s.mem == nil || slices.ContainsFunc(w.sources, func(s source) bool { return !s.set }) {
		return
	}
	w.OK("destroy_mem", w.ctx, cmem.Address(s.mem))
	*s = source{}
	w.Is(rknn.Fail, "run", w.ctx, nil)
	w.done = false
	w.give(i, way{rknn.Float32, false, copied}, n)
	*s = source{set: true, elements: w.in[i]}
	w.runAndCheck(n) // whether a refused run leaves the results of an older one is not said
}

// queries demands all attributes: those of the largest sizes and those of the sizes in use, and the list of all.
func (w *walker) queries() {
	large := w.all.sized(w.all.largestSet())
	_, _, out := large.compute(large.zeros())
	for i := range w.net.in {
		for _, cmd := range []int{rknn.QueryInput, rknn.QueryNativeInput, rknn.QueryNHWCInput} {
			w.attribute("largest", &large.in[i], cmd, i)
		}
		for _, cmd := range []int{rknn.QueryCurrentInput, rknn.QueryCurrentNatIn} {
			w.attribute("current", &w.net.in[i], cmd, i)
		}
		if len(w.all.sets) > 1 {
			w.ranges(i)
		}
	}
	for i := range w.out {
		for _, cmd := range []int{rknn.QueryOutput, rknn.QueryNativeOutput, rknn.QueryNHWCOutput} {
			w.attribute("largest", &out[i], cmd, i)
		}
		for _, cmd := range []int{rknn.QueryCurrentOutput, rknn.QueryCurrentNatOut} {
			w.attribute("current", &w.out[i], cmd, i)
		}
	}
}

// ranges demands the list of sizes of an input.
func (w *walker) ranges(i int) {
	got, want := &rknn.InputRange{Index: uint32(i)}, &rknn.InputRange{Index: uint32(i)}
	w.OK("query", w.ctx, rknn.QueryRange, got, rknn.SizeRange)
	for k := range w.all.sets {
		a := w.all.sized(k).in[i].attr(rknn.QueryInput, i, w.Board())
		want.Shapes, want.Format, want.Name, want.Dims[k], want.Rank = uint32(k+1), a.Format, a.Name, a.Dims, a.Rank
	}
	w.Check(*got == *want, "RKNN_QUERY_INPUT_DYNAMIC_RANGE of input %d: %d shapes of rank %d in format %d: %v", i,
		got.Shapes, got.Rank, got.Format, got.Dims[:len(w.all.sets)])
}

// refused makes calls that must change nothing.
func (w *walker) refused(n *noise) {
	p := &w.net.in[0]
	b := make([]byte, 64)
	switch n.below(6) {
	case 0:
		in := w.Given(0, rknn.Float32, p.format(), make([]float32, count(p.dims)))
		in.Size--
		w.Bad("inputs_set", w.ctx, 1, []rknn.Input{in})
	case 1:
		if len(w.all.sets) > 1 {
			w.refusedShape()
		}
	case 2:
		a := p.attr(rknn.QueryCurrentInput, 0, w.Board())
		a.Kind = 99
		w.Bad("set_io_mem", w.ctx, cmem.Address(w.Mem(w.ctx, 1<<16)), &a)
	case 3:
		a := w.out[0].attr(rknn.QueryCurrentOutput, 0, w.Board())
		w.Bad("set_io_mem", w.ctx, cmem.Address(w.Mem(w.ctx, int(a.Size)-1)), &a)
	case 4:
		w.Bad("outputs_get", w.ctx, len(w.out)+1, make([]rknn.Output, len(w.out)+1), nil)
	case 5:
		o := rknn.Output{IsPrealloc: 1, Buf: cmem.First(b), Size: 0}
		w.Is(rknn.OutputInvalid, "outputs_get", w.ctx, 1, []rknn.Output{o}, nil)
	}
}

// tune makes calls that change no result: cores, memory for weights and intermediate results, caches.
func (w *walker) tune(n *noise) {
	switch n.below(4) {
	case 0:
		w.OK("set_core_mask", w.ctx, []int{0, 1, 2, 4, 3, 7, 0xffff}[n.below(7)])
	case 1:
		w.OK("set_batch_core_num", w.ctx, n.between(1, 3))
	case 2:
		m := rknn.MemSize{}
		w.OK("query", w.ctx, rknn.QueryMemSize, &m, rknn.SizeMemSize)
		w.OK("set_internal_mem", w.ctx, cmem.Address(w.Mem(w.ctx, int(m.Internal))))
		w.OK("set_weight_mem", w.ctx, cmem.Address(w.Mem(w.ctx, int(m.Weight))))
	case 3:
		for _, s := range w.sources {
			if s.mem != nil {
				w.OK("mem_sync", w.ctx, cmem.Address(s.mem), n.between(1, 3))
			}
		}
	}
}

// walk makes steps with contexts of a net.
func (t *T) walk(n *net, seed, steps int) {
	noise := noise(seed)
	m, _, _ := n.sized(0).compute(n.sized(0).zeros())
	data := m.Bytes()
	open := func() *walker {
		ctx := new(uintptr)
		t.OK("init", ctx, data, len(data), uint32(noise.below(2)*rknn.FlagAsync), nil)
		return t.enter(n, t.Owned(*ctx))
	}
	walkers := []*walker{open()}
	for range steps {
		k := noise.below(len(walkers))
		w := walkers[k]
		switch noise.below(25) {
		case 0, 1, 2:
			w.choose(noise.below(len(n.sets)), &noise)
		case 3, 4, 5, 6:
			w.set(&noise)
		case 7:
			w.refill(noise.below(len(w.sources)), &noise)
		case 8, 9:
			w.bindOne(&noise)
		case 10, 11, 12, 13, 14:
			w.runAndCheck(&noise)
		case 15, 16:
			w.look(&noise)
		case 17:
			w.release()
		case 18:
			w.forget(&noise)
		case 19:
			w.queries()
		case 20:
			w.refused(&noise)
		case 21:
			if len(walkers) < 4 {
				d := t.enter(n, t.Dup(w.ctx)) // like any context it begins with the largest sizes
				if noise.below(2) == 0 {
					d.choose(noise.below(len(n.sets)), &noise)
				}
				walkers = append(walkers, d)
			}
		case 22:
			if len(walkers) < 4 {
				walkers = append(walkers, open())
			}
		case 23:
			w.tune(&noise)
		case 24:
			if len(walkers) > 1 {
				w.release()
				t.OK("destroy", w.ctx)
				t.Is(rknn.CtxInvalid, "run", w.ctx, nil)
				walkers = slices.Delete(walkers, k, k+1)
			}
		}
	}
	for _, w := range walkers {
		for i := range w.sources {
			if w.sources[i].mem == nil {
				w.give(i, way{rknn.Float32, false, copied}, &noise)
				w.sources[i] = source{set: true, elements: w.in[i]}
			}
		}
		w.runAndCheck(&noise)
		w.look(&noise)
		w.queries()
		w.release()
	}
	walkers[0].queries()
}

// walked are the nets that walks are made with.
func walked() map[string]*net {
	reals := func(name string, dims ...int) port { return port{name: name, elem: rknn.ONNXFloat, dims: dims} }
	pixels := reals("x", 1, 3, 5, 7)
	pixels.mean, pixels.std, pixels.swapped = []float32{1, -2, 3}, []float32{2, 0.5, 4}, true
	coded := reals("x", 2, 3, 6, 5)
	coded.quant = &codes{rknn.ONNXInt8, 0.5, -9}
	return map[string]*net{
		"rows_and_columns": {in: []port{reals("x", 2, 3)}, sets: [][][]int{{{2, 3}}, {{3, 2}}, {{4, 1}}, {{1, 6}}}, span: 50,
			build: func(b *build, in []value) []result {
				return outputs(b.transpose(b.relu(in[0]), 1, 0), b.neg(in[0]), b.reduce("ReduceSum", in[0], 1))
			}},
		"images": {in: []port{pixels}, span: 9, tol: 2e-5,
			sets: [][][]int{{{1, 3, 5, 7}}, {{1, 3, 7, 5}}, {{1, 3, 4, 11}}, {{1, 3, 3, 3}}},
			build: func(b *build, in []value) []result {
				y := b.relu(b.biased(in[0], 3, 9, 3, same(1)))
				return outputs(y, b.add(b.biased(y, 1, 3, 1, window{}), in[0]))
			}},
		"batches": {in: []port{reals("x", 1, 4, 3, 5), reals("z", 1, 7)}, sets: [][][]int{{{1, 4, 3, 5}, {1, 7}},
			{{3, 4, 3, 5}, {3, 7}}, {{2, 4, 5, 3}, {2, 7}}}, span: 9, build: func(b *build, in []value) []result {
			return outputs(b.globalMost(in[0]), b.product(in[1], b.weights(5, 7, 4)), b.neg(in[0]))
		}},
		"codes": {in: []port{coded}, sets: [][][]int{{{2, 3, 6, 5}}}, build: func(b *build, in []value) []result {
			ones := tensor{[]int{11}, onesOf(11)}
			y := b.conv(in[0], b.dequantized(b.noise.integers(-9, 9, 11, 3, 3, 3), ones), absent, same(1))
			return []result{{value: y, quant: &codes{rknn.ONNXInt8, 8, 5}},
				{value: b.relu(in[0]), quant: &codes{rknn.ONNXUint8, 0.5, 100}}}
		}},
	}
}

// globalMost is GlobalMaxPool.
func (b *build) globalMost(x value) value {
	y := newTensor(x.dims[0], x.dims[1], 1, 1)
	area := x.dims[2] * x.dims[3]
	for i := range y.v {
		y.v[i] = slices.Max(x.v[i*area:][:area])
	}
	return b.op("GlobalMaxPool", nil, y, x)
}

// walks uses contexts again and again.
func walks() *group {
	g := newGroup("walks", "contexts that are used again with other shapes, inputs, memory and threads")
	nets := walked()
	for _, name := range sorted(nets) {
		for seed := range 24 {
			on(g, "rk3588", fmt.Sprintf("%s_%d", name, seed), func(t *T) { t.walk(nets[name], seed*31+len(name), 70) })
		}
	}
	return g
}
