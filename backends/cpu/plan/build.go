package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/ops"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// compilation is a plan on its way: what the passes so far have made.
type compilation struct {
	ctx     context.Context
	graph   *graph.Graph
	open    *graph.Graph // the graph without the sizes of its inputs, nil: they are always the same
	store   *run.Store
	options *Options
	limit   int64 // bytes of intermediate results
	build   builder

	halves  []bool // per value of the graph: it was of 16 bits
	loaded  *ir.Loaded
	network *ir.Network
	program *ir.Program
	placed  *ir.Placed
	packer  *ir.Packer
	lowered *ir.Lowered
	plan    *run.Plan
}

// pass is one of the transformations that a plan is made by.
type pass struct {
	name string
	run  func(c *compilation) error
	made func(c *compilation) fmt.Stringer
}

// passes returns the passes in their order.
func passes() []pass {
	isLoaded := func(c *compilation) fmt.Stringer { return c.loaded }
	isNetwork := func(c *compilation) fmt.Stringer { return c.network }
	isProgram := func(c *compilation) fmt.Stringer { return c.program }
	isPlaced := func(c *compilation) fmt.Stringer { return c.placed }
	isLowered := func(c *compilation) fmt.Stringer { return c.lowered }
	isPlan := func(c *compilation) fmt.Stringer { return c.plan }
	isPacked := func(c *compilation) fmt.Stringer { return c.packer }
	return []pass{
		// What inference knows: types, sizes, constants; halves are float32 from here on, and some operators several.
		{"load", (*compilation).load, isLoaded},
		// Nodes that no output needs go.
		{"prune", (*compilation).prune, isNetwork},
		// What follows from constants is computed; filters of codes are held for quantize.
		{"fold", (*compilation).fold, isNetwork},
		// Operators on 8-bit values become operations on codes.
		{"quantize", (*compilation).quantize, isProgram},
		// The filters that quantize has not taken are computed.
		{"fold held", (*compilation).foldHeld, isProgram},
		// Each node that is left becomes an operation, with the nodes after it that can be part of it.
		{"match", (*compilation).match, isProgram},
		// Each value gets an order of dimensions; nodes convert where a reader wants another.
		{"layout", (*compilation).layout, isPlaced},
		// Each node becomes a step, which calls kernels on buffers.
		{"lower", (*compilation).lower, isLowered},
		// Buffers get places: parts of others, the memory of operands, the arena.
		{"memory", (*compilation).memory, isPlan},
		// Constants are packed, and those that no step reads any more are given back.
		{"pack", (*compilation).pack, isPacked},
	}
}

func (c *compilation) load() (err error) {
	if c.graph, c.open, c.halves, err = widen(c.graph, c.options.Open); err == nil {
		if c.open == nil {
			c.graph = expand(c.graph)
		}
		c.loaded, err = ir.Load(c.graph, c.open, c.limit, c.options.body)
	}
	return err
}

func (c *compilation) prune() error {
	c.network = prune(c.loaded, newBudget(c.graph))
	c.network.Bodies, c.network.Open, c.network.Halves = c.body, c.open, c.halves
	return nil
}

// body plans a graph within a node, see ir.Bodies.
func (c *compilation) body(i, body int, g, open *graph.Graph) (*run.Plan, error) {
	return c.build(c.ctx, g, c.store.Body(i, body), Options{Open: open, body: true, unfolded: c.options.unfolded,
		limit: c.limit, Packing: ir.Packing{Threads: c.options.Threads}})
}

func (c *compilation) fold() error { return c.constants(false) }

func (c *compilation) quantize() error {
	c.program = quantize(c.ctx, c.network)
	return nil
}

func (c *compilation) foldHeld() error { return c.constants(true) }

func (c *compilation) match() error { return match(c.ctx, c.program, c.options.body) }

func (c *compilation) layout() (err error) {
	c.placed, err = ir.Layout(c.program, c.options.NHWC, ops.LayoutConversions)
	return err
}

func (c *compilation) lower() (err error) {
	c.packer = ir.NewPacker(c.network, c.store, &c.options.Packing)
	c.lowered, err = ir.Lower(c.placed, c.packer)
	return err
}

func (c *compilation) memory() (err error) {
	kept := c.kept() // steps that write over an operand name it from then on
	if c.plan, err = memory(c.lowered, c.limit); err == nil {
		c.plan.Inputs, c.plan.Kept = c.loaded.Inputs, kept
	}
	return err
}

// kept are the names of the values that steps write.
func (c *compilation) kept() (names []string) {
	for _, s := range c.lowered.Steps {
		for _, x := range s.Writes {
			if x == run.None {
				continue
			}
			v := int(c.lowered.Buffers[x].Form.Value)
			if v < len(c.graph.Values) && c.graph.Values[v].Name != "" && !slices.Contains(names, c.graph.Values[v].Name) {
				names = append(names, c.graph.Values[v].Name)
			}
		}
	}
	return names
}

func (c *compilation) pack() error { return ir.Pack(c.ctx, c.packer, c.plan, c.lowered.Tables) }

// constants computes what follows from constants, unless the plan is one that does so for another.
func (c *compilation) constants(held bool) error {
	if c.options.unfolded {
		return nil
	}
	f := folder{Network: c.network, ctx: c.ctx, build: c.build, limit: c.limit}
	return f.fold(held)
}

// Build makes a plan of a validated, inferred graph whose input shapes are known. Packed constants live in store, which
// must outlive the plan, as must the graph's constants, except those reported to o.Unread. Kind fault.Unsupported when
// the graph is better computed by reference: unknown input shapes, nothing for a fast kernel, or too large.
func Build(ctx context.Context, g *graph.Graph, store *run.Store, o Options) (*run.Plan, error) {
	c := &compilation{ctx: ctx, graph: g, store: store, options: &o, limit: o.limit, build: Build}
	if o.limit == 0 {
		c.limit = mem.Total()
	}
	for _, p := range passes() {
		if err := p.run(c); err != nil {
			if c.packer != nil {
				c.packer.Abandon()
			}
			return nil, err
		}
		if o.Trace != nil {
			o.Trace(p.name, p.made(c).String())
		}
	}
	if c.graph != g { // constants that were widened are packed now
		c.plan.Graph = &graph.Graph{Name: g.Name, Nodes: c.graph.Nodes}
	}
	return c.plan, nil
}
