package cpu

import (
	"context"
	"slices"
	"sync"

	"github.com/anynpu/anynpu/backends/cpu/plan"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// planned is the engine that computes float32 graphs with the kernels of package kernel, and the rest of such a graph
// by reference. A graph without anything to gain goes to the next engine.
type planned struct {
	threads   *threads
	reference reference
	trace     func(pass, text string) // nil: no observer
}

func (planned) name() string { return "plan" }

// maxPlans bounds the plans of one program: one for each combination of input sizes, those that were not used for
// longest are dropped.
const maxPlans = 8

// plannedGraph is a graph with its plans.
type plannedGraph struct {
	engine   planned
	graph    *graph.Graph
	store    run.Store
	mu       sync.Mutex
	plans    []sized      // in the order of their last use
	fallback prepared     // computes by reference; nil: originals that it would read were dropped
	dropped  *dropped     // nil: nothing may be dropped
	whole    []mem.Buffer // originals that were needed again, for fallback
	nhwc     []bool       // inputs that are in NHWC, nil: none
	rows     []int        // dimensions of a row of inputs that are images, nil: none are
}

// sized computes inputs of certain sizes.
type sized struct {
	dims [][]int64
	plan *run.Plan // nil: by reference
}

func (e planned) prepare(ctx context.Context, u device.Unit, o device.Options) (prepared, error) {
	fallback, err := e.reference.prepare(ctx, u, o)
	if err != nil {
		return nil, err
	}
	p := &plannedGraph{engine: e, graph: u.Graph, fallback: fallback, nhwc: nhwcInputs(u)}
	p.rows = imageRows(u.Graph, p.nhwc)
	dims, static := make([][]int64, len(u.Graph.In)), true
	for i, v := range u.Graph.In {
		n, ok := u.Graph.Fact(v).Shape.Ints()
		dims[i], static = n, static && ok
	}
	if !static {
		if !worthPlanning(u.Graph) {
			fallback.release()
			return nil, fault.New(fault.Unsupported, "no float32 or 8-bit value, no image")
		}
		e.threads.acquire()
		return p, nil
	}
	settings := plan.Options{NHWC: p.nhwc, Trace: e.trace}
	settings.Threads = e.threads.count
	if u.Exclusive && u.Weights != nil {
		fallback.release()
		p.dropped, p.fallback = newDropped(u, o), nil
		settings.Unread, settings.Least, settings.Lossy = p.dropped.drop, leastDropped, o.Unsaved
		if _, ours := u.Weights.(*mem.Weights); ours && !mem.Guarded() {
			settings.Discard = mem.Discard
		}
	}
	made, err := plan.Build(ctx, u.Graph, &p.store, settings)
	if err != nil {
		if p.fallback != nil {
			p.fallback.release()
		}
		p.store.Release()
		return nil, err
	}
	p.plans = []sized{{dims, made}}
	e.threads.acquire()
	return p, nil
}

// nhwcInputs says which inputs of u will be bound in NHWC and can be taken so, nil when none can.
func nhwcInputs(u device.Unit) (nhwc []bool) {
	for i, order := range u.Order[:min(len(u.Order), len(u.Graph.In))] {
		t := u.Graph.Fact(u.Graph.In[i]).Type
		if plan.TakesNHWC(t) && slices.Equal(order, tensor.ChannelsLast(t.Shape.Rank())) {
			if nhwc == nil {
				nhwc = make([]bool, len(u.Graph.In))
			}
			nhwc[i] = true
		}
	}
	return nhwc
}

// imageRows returns plan.ImageRow of each input that is not in NHWC, nil when all are 0.
func imageRows(g *graph.Graph, nhwc []bool) (rows []int) {
	for i, v := range g.In {
		if row := plan.ImageRow(g, v); row > 0 && (nhwc == nil || !nhwc[i]) {
			if rows == nil {
				rows = make([]int, len(g.In))
			}
			rows[i] = row
		}
	}
	return rows
}

// worthPlanning reports whether a node makes a value that kernels compute, or an image.
func worthPlanning(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n graph.Node) bool {
		_, image := n.Op.(*op.ResizeImage)
		return image || slices.ContainsFunc(n.Out, func(v graph.Value) bool {
			f := g.Fact(v)
			return plan.Computes(f.Type)
		})
	})
}

func (p *plannedGraph) release() {
	if p.fallback != nil {
		p.fallback.release()
	}
	release(p.whole)
	p.store.Release()
	p.engine.threads.release()
}

// nhwcPorts implements prepared.
func (p *plannedGraph) nhwcPorts() []bool { return p.nhwc }

// imageRow implements prepared.
func (p *plannedGraph) imageRow(i int) int {
	if p.rows == nil {
		return 0
	}
	return p.rows[i]
}

// originals implements prepared.
func (p *plannedGraph) originals() (*graph.Graph, func(), error) {
	if p.dropped == nil {
		return p.graph, func() {}, nil
	}
	return p.dropped.originals(p.graph)
}

// kept are the names of values that steps write, of a graph whose sizes are known.
func (p *plannedGraph) kept() (names []string, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := slices.ContainsFunc(p.graph.In, func(v graph.Value) bool { return !p.graph.Fact(v).Shape.Static() })
	if open || len(p.plans) != 1 || p.plans[0].plan == nil {
		return nil, false
	}
	return p.plans[0].plan.Kept, true
}

// byReference returns an instance that computes by reference.
func (p *plannedGraph) byReference(ctx context.Context, o device.ExecOptions) (instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fallback == nil {
		g, buffers, err := p.dropped.keepOriginals(p.graph)
		if err != nil {
			return nil, err
		}
		if p.fallback, err = p.engine.reference.prepare(ctx, device.Unit{Graph: g}, device.Options{}); err != nil {
			release(buffers)
			return nil, err
		}
		p.whole = append(p.whole, buffers...)
	}
	return p.fallback.instance(o)
}

// planFor returns the plan for inputs of the given sizes, nil when they are computed by reference.
func (p *plannedGraph) planFor(ctx context.Context, in []tensor.Tensor) (*run.Plan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.plans {
		if s.fits(in) {
			p.plans = append(slices.Delete(p.plans, i, i+1), s)
			return s.plan, nil
		}
	}
	g := p.graph.WithInputs(in)
	var made *run.Plan
	err := g.Infer()
	if err == nil && p.dropped == nil { // a graph that was compiled for known sizes has its one plan
		o := plan.Options{NHWC: p.nhwc, Open: p.graph, Trace: p.engine.trace}
		o.Threads = p.engine.threads.count
		made, err = plan.Build(ctx, g, &p.store, o)
	}
	if kind := fault.KindOf(err); err != nil && (kind == fault.Canceled || kind == fault.Timeout || kind == fault.Memory) {
		return nil, err
	}
	s := sized{plan: made}
	for _, t := range in {
		s.dims = append(s.dims, slices.Clone(t.Dims))
	}
	if len(p.plans) == maxPlans {
		p.plans = slices.Delete(p.plans, 0, 1)
	}
	p.plans = append(p.plans, s)
	return made, nil
}

func (s *sized) fits(in []tensor.Tensor) bool {
	for i := range in {
		if !slices.Equal(s.dims[i], in[i].Dims) {
			return false
		}
	}
	return true
}

func (p *plannedGraph) instance(o device.ExecOptions) (instance, error) {
	pool := p.engine.threads.get()
	i := &plannedInstance{graph: p, options: o, threads: pool.Width()}
	if o.Threads == 1 {
		i.threads = 1
	}
	if i.options.Owner == nil {
		i.options.Owner = p
	}
	i.workers = pool.NewRun(rank(o.Priority), i.options.Owner)
	i.between = i.workers.Next
	return i, nil
}

// plannedInstance runs one plan at a time and keeps the memory of the last.
type plannedInstance struct {
	graph    *plannedGraph
	options  device.ExecOptions
	threads  int
	workers  *pool.Run
	plan     *run.Plan
	state    *run.State
	fallback instance  // nil: not needed so far
	rows     []staging // inputs in rows for fallback, where runs get them in NHWC, and without gaps
	apart    []int     // bytes from row to row of inputs that are images, nil: none are
	last     instance  // what ran last, nil: the plan
	between  run.Between
}

func (i *plannedInstance) run(ctx context.Context, in []tensor.Tensor, out []tensor.Tensor) ([]tensor.Tensor, error) {
	p, err := i.graph.planFor(ctx, in)
	if err != nil {
		return nil, err
	}
	if in, err = i.closed(p, in); err != nil {
		return nil, err
	}
	if p == nil {
		if i.fallback == nil {
			if i.fallback, err = i.graph.byReference(ctx, i.options); err != nil {
				return nil, err
			}
		}
		i.last = i.fallback
		if in, err = i.inRows(in); err != nil {
			return nil, err
		}
		return i.fallback.run(ctx, in, out)
	}
	i.last = nil
	if i.plan != p {
		if i.state != nil {
			i.state.Release()
			i.state, i.plan = nil, nil
		}
		if i.state, err = p.NewState(i.workers, i.threads); err != nil {
			return nil, err
		}
		i.plan = p
	}
	i.state.Apart(i.apart)
	return i.state.Run(ctx, in, out, i.options.Profiling, i.between)
}

func (i *plannedInstance) sleeps() bool { return i.workers.Sleeps() }

func (i *plannedInstance) end() (wake func()) {
	if i.fallback != nil {
		if wake = i.fallback.end(); wake != nil {
			return wake
		}
	}
	return i.workers.Part()
}

// setApart implements instance.
func (i *plannedInstance) setApart(k, bytes int) {
	if i.apart == nil {
		i.apart = make([]int, len(i.graph.graph.In))
	}
	i.apart[k] = bytes
}

// closed returns the inputs without gaps between rows where p, nil for the reference, does not take them.
func (i *plannedInstance) closed(p *run.Plan, in []tensor.Tensor) ([]tensor.Tensor, error) {
	own := in
	for k, bytes := range i.apart {
		if bytes == 0 || p != nil && p.ReadsApart(k) {
			continue
		}
		if i.rows == nil {
			i.rows = make([]staging, len(in))
		}
		n := in[k].Count()
		data, err := i.rows[k].take(int64(n))
		if err != nil {
			return nil, err
		}
		row := rowOf(in[k].Dims, i.graph.rows[k])
		for at, from := 0, 0; at < n; at, from = at+row, from+bytes {
			copy(data[at:at+row], in[k].Data[from:])
		}
		if i.apart[k] = 0; &own[0] == &in[0] {
			own = slices.Clone(in)
		}
		own[k].Data = data
	}
	return own, nil
}

// rowOf is the number of elements of the last dims of sizes.
func rowOf(sizes []int64, dims int) int {
	n, _ := tensor.Count(sizes[len(sizes)-dims:])
	return int(n)
}

// inRows returns the inputs row-major, as the reference takes them.
func (i *plannedInstance) inRows(in []tensor.Tensor) ([]tensor.Tensor, error) {
	if i.graph.nhwc == nil {
		return in, nil
	}
	in = slices.Clone(in)
	if i.rows == nil {
		i.rows = make([]staging, len(in))
	}
	for k := range in {
		if !i.graph.nhwc[k] {
			continue
		}
		v := mem.View{Buf: mem.Borrow(in[k].Data, nil), Type: in[k].Type()}
		data, err := i.rows[k].take(int64(len(in[k].Data)))
		if err == nil {
			err = v.In(tensor.ChannelsLast(len(in[k].Dims))).Load(data)
		}
		v.Buf.Release()
		if err != nil {
			return nil, err
		}
		in[k].Data = data
	}
	return in, nil
}

func (i *plannedInstance) profile() ([]device.NodeTime, int64) {
	switch {
	case i.last != nil:
		return i.last.profile()
	case i.state == nil:
		return nil, 0
	}
	return i.state.Profile()
}

func (i *plannedInstance) release() {
	if i.state != nil {
		i.state.Release()
		i.state = nil
	}
	if i.fallback != nil {
		i.fallback.release()
	}
	for k := range i.rows {
		i.rows[k].release()
	}
	if i.workers != nil {
		i.workers.Release()
	}
}
