package plan

import (
	"context"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Plan is a graph made ready for inputs of given sizes. It is never changed and is shared by any number of states.
type Plan struct {
	graph   *graph.Graph
	steps   []*step
	fused   []int // nodes that are part of another's step
	buffers []buffer
	inputs  []tensor.Type
	outputs []output
	arena   int64
	store   *Store
}

// output says where a graph output's bytes are.
type output struct {
	buf  int
	typ  tensor.Type
	dims []int64 // nil: those of the result
}

// step is one entry of a plan.
type step struct {
	node   int // index in the graph, none: a change of form
	fast   bool
	reads  []int
	writes []int
	dead   []int // results read here for the last time
	// per buffer read: length of its rows if they may lie apart, 0 or absent: they may not
	inCols  []int
	outCols []int                            // alike for writes
	strips  *stripTask                       // of a step that only moves columns
	scratch int                              // buffer without contents between steps, none
	inplace bool                             // writes[0] may be the memory of reads[0]
	start   func(s *State, st *step) process // makes what a state needs
}

// process is a step in a state.
type process interface {
	run(s *State) error
}

// Fast returns how many of the plan's nodes run on fast kernels, fused ones included, and how many by reference.
func (p *Plan) Fast() (fast, byRef int) {
	for _, s := range p.steps {
		switch {
		case s.node == none:
		case s.fast:
			fast++
		default:
			byRef++
		}
	}
	return fast + len(p.fused), byRef
}

type builder struct {
	graph  *graph.Graph
	plan   *Plan
	store  *Store
	limit  int64
	values []value
	uses   [][]int
	maker  []int
	done   []bool // per node: emitted or part of another
	node   int    // being emitted
	err    error  // packing failed

	late     []func() // what depends on where rows lie
	options  Options
	budget   budget
	ctx      context.Context
	jobs     []*job
	origins  map[*byte]*origin
	pinned   map[*byte]bool // bytes that steps hold
	idle     []*origin      // constants that nothing reads
	pads     map[graph.Value]*padding
	turns    map[graph.Value]*turned
	centres  map[graph.Value]graph.Value
	coded    map[graph.Value]*coded
	unsigned map[graph.Value]int // buffers of codes, see unsignedCodes
}

// Build makes a plan of a validated, inferred graph whose input shapes are known. Packed constants live in store, which
// must outlive the plan, as must the graph's constants, those apart that o.Unread was told of. Kind fault.Unsupported
// when the graph is better computed by reference: unknown input shapes, nothing for a fast kernel, or too large.
func Build(ctx context.Context, g *graph.Graph, store *Store, o Options) (*Plan, error) {
	b := &builder{graph: g, store: store, limit: o.limit, plan: &Plan{graph: g, store: store}, options: o,
		budget: newBudget(g), ctx: ctx}
	if !o.unfolded {
		b.limit = mem.Total()
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	if err := b.loadValues(); err != nil {
		return nil, err
	}
	for i, v := range g.In {
		x := &b.values[v]
		if x.dims == nil || !x.typ.DType.Valid() {
			return nil, fault.New(fault.Unsupported, "input %d: shape %v", i, x.typ.Shape)
		}
		t := x.typ
		b.plan.inputs = append(b.plan.inputs, t)
		b.plan.buffers[x.plain].size, _ = t.ByteSize()
	}
	b.findOrigins()
	b.maker, b.done = g.Producers(), make([]bool, len(g.Nodes))
	order = b.prune(order)
	for _, i := range order { // first, so that fusion finds constants wherever they are made
		if err := ctx.Err(); err != nil {
			return nil, fault.As(fault.Canceled, err, "plan")
		}
		b.done[i] = b.putOff(i) || !o.unfolded && b.folded(ctx, i)
	}
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, fault.As(fault.Canceled, err, "plan")
		}
		if b.done[i] {
			continue
		}
		b.node = i
		b.emit(&g.Nodes[i])
		if b.err != nil {
			return nil, b.err
		}
		b.done[i] = true
	}
	if fast, _ := b.plan.Fast(); fast+len(b.pads)+len(b.turns) == 0 {
		return nil, fault.New(fault.Unsupported, "no node has a fast kernel")
	}
	b.node = none
	for i, v := range g.Out {
		x := &b.values[v]
		o := output{buf: b.wantPlain(v), typ: x.typ, dims: x.dims}
		if o.buf == none {
			return nil, fault.New(fault.Internal, "graph output %d is never made", i)
		}
		b.plan.outputs = append(b.plan.outputs, o)
		if f := &b.plan.buffers[o.buf]; f.place == inArena && f.output == none {
			f.output = i
		}
	}
	b.foldWaiting()
	b.joinViews()
	if b.err != nil {
		return nil, b.err
	}
	b.assign()
	if b.plan.arena > b.limit {
		return nil, fault.New(fault.Unsupported, "%d bytes of intermediate results", b.plan.arena)
	}
	if err := b.flush(ctx); err != nil {
		return nil, err
	}
	return b.plan, nil
}

// prune drops nodes that nothing needs and counts the uses of every value by the others.
func (b *builder) prune(order []int) []int {
	g := b.graph
	need := make([]bool, len(g.Values))
	for _, v := range g.Out {
		need[v] = true
	}
	var kept []int
	for _, i := range slices.Backward(order) {
		n := &g.Nodes[i]
		keep := n.Op.Traits().Effect
		for _, v := range n.Out {
			keep = keep || v != graph.None && need[v] && b.values[v].data == nil
		}
		if !keep {
			b.done[i] = true
			continue
		}
		kept = append(kept, i)
		for k, v := range n.In {
			if v != graph.None && (b.values[v].data == nil || !slices.Contains(n.Op.Traits().ShapeInputs, k)) {
				need[v] = true
			}
		}
	}
	slices.Reverse(kept)
	b.uses = make([][]int, len(g.Values))
	for _, i := range kept {
		for _, v := range g.Nodes[i].In {
			if v != graph.None {
				b.uses[v] = append(b.uses[v], i)
			}
		}
	}
	return kept
}

// emit adds the steps of one node, by reference when no fast kernel does it.
func (b *builder) emit(n *graph.Node) {
	if b.island(n) {
		return
	}
	b.foldFilter(n)
	if !b.emitFast(n) {
		b.byRef(n)
	}
}

func (b *builder) emitFast(n *graph.Node) bool {
	if len(n.In) == 0 || n.In[0] == graph.None { // random numbers, a loop without a count
		return false
	}
	if b.emitQuantized(n) {
		return true
	}
	switch o := n.Op.(type) {
	case *op.Conv:
		return b.conv(n, o)
	case *op.FullyConnected:
		return b.product(n)
	case *op.MatMul:
		return b.product(n) || b.matMul(n, o)
	case *op.MaxPool:
		return len(n.Out) == 1 && b.pool(n, poolSpec{max: true, last: o.ChannelsLast, windows: o.Windows})
	case *op.AveragePool:
		return b.pool(n, poolSpec{countPads: o.CountPads && !o.Global, last: o.ChannelsLast, windows: o.Windows})
	case *op.Softmax:
		return b.softmax(n, o.Axis, false)
	case *op.LogSoftmax:
		return b.softmax(n, o.Axis, true)
	case *op.LayerNorm:
		return b.layerNorm()
	case *op.ReduceMean:
		return b.layerNorm() || b.reduce(n)
	case *op.Add:
		return b.addNorm(n) || b.binary(n)
	case *op.BatchNorm:
		return b.batchNorm(n, o)
	case *op.Transpose:
		return b.transpose(n)
	case *op.Concat:
		return b.concat(n, o.Axis)
	case *op.Split:
		return b.split(n, o.Axis)
	case *op.Quantize:
		return o.Block == 0 && (b.encode(n) || b.quantize(n) || b.encodeLast(n) || b.quantizeAny(n, o))
	case *op.Dequantize:
		return o.Block == 0 && (b.dequantize(n) || b.dequantizeAny(n, o))
	case *op.Cast:
		return b.cast(n, o)
	case *op.Convert:
		return b.convert(n)
	case *op.Resize:
		return b.resize(n, o)
	case *op.Reshape, *op.Flatten, *op.Squeeze, *op.Unsqueeze, *op.Identity:
		return b.codedView(n) || b.view(n)
	case *op.ConvTranspose:
		return b.convTranspose(n, o)
	case *op.InstanceNorm:
		return b.groupNorm(n, o.Axis, 0, o.Epsilon)
	case *op.GroupNorm:
		return b.groupNorm(n, o.ChannelAxis(), int(o.Groups), o.Epsilon)
	case *op.LSTM, *op.GRU, *op.RNN:
		return b.recurrentNode(n)
	case *op.RMSNorm:
		return b.rmsNorm(n, o)
	case *op.L2Normalize:
		return b.l2Normalize(n, o)
	}
	return b.moving(n) || b.unary(n) || b.binary(n) || b.reduce(n)
}

// emitQuantized adds the steps of an operator on quantized tensors of 8 bits.
func (b *builder) emitQuantized(n *graph.Node) bool {
	switch o := n.Op.(type) {
	case *op.Conv:
		return b.quantizedConv(n, o)
	case *op.FullyConnected:
		return b.quantizedProduct(n, false)
	case *op.MatMul:
		return !o.TransposeA && b.quantizedProduct(n, !o.TransposeB)
	case *op.MaxPool:
		return len(n.Out) == 1 && b.quantizedPool(n, poolSpec{max: true, last: o.ChannelsLast, windows: o.Windows})
	case *op.AveragePool:
		return b.quantizedPool(n, poolSpec{countPads: o.CountPads, last: o.ChannelsLast, windows: o.Windows})
	}
	return b.lookedUp(n)
}

// moving adds a step for an operator that only moves or chooses elements.
func (b *builder) moving(n *graph.Node) bool {
	switch o := n.Op.(type) {
	case *op.Slice:
		return b.slice(n)
	case *op.StridedSlice:
		return b.stridedSlice(n, o)
	case *op.Expand:
		return b.expand(n)
	case *op.Tile:
		return b.tile(n)
	case *op.Pad:
		return b.pad(n, o)
	case *op.Gather:
		return b.gather(n, o)
	case *op.Where:
		return b.where(n)
	case *op.PRelu:
		return b.prelu(n)
	case *op.DepthToSpace:
		return b.depthToSpace(n, o)
	case *op.SpaceToDepth:
		return b.spaceToDepth(n, o)
	}
	return false
}

// add appends a step for the node being emitted.
func (b *builder) add(s step) {
	if s.scratch == 0 {
		s.scratch = none
	}
	s.node = b.node
	b.plan.steps = append(b.plan.steps, &s)
}

// fuse marks node i as part of the step being emitted.
func (b *builder) fuse(i int) {
	b.done[i] = true
	b.plan.fused = append(b.plan.fused, i)
}

// onlyUse returns the one node that reads v, none when there are others or v is a graph output.
func (b *builder) onlyUse(v graph.Value) int {
	if len(b.uses[v]) != 1 || slices.Contains(b.graph.Out, v) {
		return none
	}
	return b.uses[v][0]
}
