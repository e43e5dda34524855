// Package compile makes programs: it decides which device computes which node, splits the graph accordingly, has every
// device compile its parts, and joins the results into one program that callers cannot tell from a program of one
// device.
package compile

import (
	"context"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Options govern a compilation.
type Options struct {
	device.Options
	// Strict makes it an error of kind fault.Unsupported, naming the node and the reason, when a node is not computed by
	// the first device of those that are chosen from, the devices from Own on.
	Strict bool
	Own    int
	// Weights is a store that already holds constants of the graph: the program shares it instead of copying them. nil: a
	// store of its own.
	Weights *mem.Weights
	// Consume gives the graph and Weights to the program: from the call on the caller reads no constants of the graph or
	// the store, whatever it returns. So a device that packs constants need not keep both forms.
	Consume bool
	// Order is device.Unit.Order of the whole graph.
	Order [][]int
	// ByCost lets parts go to a later device where that is cheaper, the cost of the crossing included.
	ByCost bool
	// Forms are compiled forms of the graph. The first whose device is there stands for the graph if its ports agree:
	// names, sizes, and types that one can be made of the other. Strict then concerns the form alone, not the nodes that
	// adapt its inputs and outputs. Warn gets the reason why a form is not used whose device is there; may be nil.
	Forms []Form
	// Warn is also told what a device claims and does not compile, which then goes to the next one.
	Warn func(text string)
}

// Compile makes a program of g on devices, the preferred one first; a node goes to the first that computes it, whole
// or, if it is a composite operator, in parts. g is copied with its constants, those in Options.Weights apart: it may
// change or end afterwards, and may be compiled by several goroutines at once. ctx cancels between devices and inside
// those that look at it. Kinds: fault.Unsupported when no device computes a node (the error names it and each device's
// reason), fault.Argument for an invalid graph, what inference finds, what the devices report.
func Compile(ctx context.Context, g *graph.Graph, devices []device.Device, o Options) (p *Program, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fault.New(fault.Internal, "compile %q: panic: %v", g.Name, v)
		}
	}()
	if len(devices) == 0 {
		return nil, fault.New(fault.Argument, "compile %q: no device", g.Name)
	}
	weights := o.Weights
	if weights == nil {
		weights = mem.NewWeights()
	} else {
		weights.Retain()
	}
	defer weights.Release()
	own, err := clone(g, weights)
	if err != nil {
		return nil, fault.Wrap(err, "compile")
	}
	if err := own.Infer(); err != nil {
		return nil, fault.Wrap(err, "compile")
	}
	formed, forms := useForm(ctx, own, devices, weights, o)
	if formed != nil {
		own = formed
	}
	if Tensors != nil && formed == nil && !Tensors.Ended() {
		p, err = compileExposed(ctx, own, weights, o, func(ctx context.Context, g *graph.Graph, o Options) (*Program,
			error) {
			return retried(ctx, g, devices, weights, o, forms)
		})
	} else {
		p, err = retried(ctx, own, devices, weights, o, forms)
	}
	return p, fault.Wrap(err, "compile")
}

// compileExposed compiles own for a dump: o's weights stay whole, for a saved form of the program is made of them.
func compileExposed(ctx context.Context, own *graph.Graph, weights *mem.Weights, o Options,
	build func(ctx context.Context, g *graph.Graph, o Options) (*Program, error)) (*Program, error) {
	g := shallow(own)
	label(g)
	o.Weights, o.Consume = weights, false
	var only map[string]bool
	if Tensors.Fused() {
		fused, err := build(ctx, shallow(g), o)
		if err != nil {
			return nil, err
		}
		only = fused.Kept(g)
		fused.Release()
	}
	s, err := expose(g, only)
	if err != nil {
		return nil, err
	}
	p, err := build(ctx, g, o)
	if err != nil {
		return nil, err
	}
	p.plain = func() (*Program, error) { return build(context.Background(), own, o) }
	weights.Retain()
	p.whole = weights
	p.exposed, p.source = s, own
	return p, nil
}

// retried compiles own, without nodes that a device claims and then does not compile.
func retried(ctx context.Context, own *graph.Graph, devices []device.Device, weights *mem.Weights, o Options,
	forms []device.FormPlacement) (*Program, error) {
	banned := bans{}
	for {
		p, err := placeAndBuild(ctx, own, devices, weights, o, banned, forms)
		if err == nil || dropped(own) || !banned.ban(err, own, devices, o) {
			return p, err
		}
	}
}

// placeAndBuild compiles own, which it leaves as it is, but for the reasons in banned.
func placeAndBuild(ctx context.Context, own *graph.Graph, devices []device.Device, weights *mem.Weights, o Options,
	banned bans, forms []device.FormPlacement) (*Program, error) {
	formed := len(forms) > 0 && forms[len(forms)-1].Used
	placed, err := place(shallow(own), devices, o, formed, banned)
	if err != nil {
		return nil, err
	}
	if o.ByCost {
		if err := placed.balance(devices, o); err != nil {
			return nil, err
		}
	}
	placed.report.Forms = forms
	return build(ctx, placed, devices, weights, o)
}

// shallow returns a copy of g that shares its operators and constants.
func shallow(g *graph.Graph) *graph.Graph {
	c := *g
	c.Values, c.Nodes = slices.Clone(g.Values), slices.Clone(g.Nodes)
	c.In, c.Out = slices.Clone(g.In), slices.Clone(g.Out)
	return &c
}

// dropped reports whether a device has dropped constants of g, which then cannot be compiled again.
func dropped(g *graph.Graph) bool {
	for v := range g.Values {
		f := &g.Values[v].Fact
		if n, known := f.ByteSize(); f.Const != nil && f.Const.Data == nil && (n > 0 || !known) {
			return true
		}
	}
	return false
}

// clone returns a copy of g that shares nothing with it; all constants, also those inside bodies and fields, lie in w.
func clone(g *graph.Graph, w *mem.Weights) (*graph.Graph, error) {
	own, err := graph.Clone(g, w.Add)
	// what was just encoded: the graph itself is at fault, e.g. a constant of a wrong length
	if err != nil && fault.KindOf(err) == fault.File {
		return nil, fault.As(fault.Argument, err, "graph %q", g.Name)
	}
	return own, err
}

// build compiles each part of a placed graph and joins the programs.
func build(ctx context.Context, pl *placed, devices []device.Device, weights *mem.Weights, o Options) (*Program,
	error) {
	g := pl.graph
	parts, err := g.Partition(pl.owner)
	if err != nil {
		return nil, err
	}
	p := newProgram()
	defer func() {
		if err != nil {
			p.Release()
		}
	}()
	if err = keepConstants(g, weights); err != nil {
		return nil, err
	}
	if Dump != nil {
		Dump.dump(pl, parts, devices)
	}
	p.source = shallow(g)
	exclusive := (o.Consume || o.Weights == nil) && wholeGraph(g, parts) && !constPorts(g)
	for _, nodes := range parts {
		if err = ctx.Err(); err != nil {
			return nil, fault.As(fault.Canceled, err, "")
		}
		d := devices[pl.owner[nodes[0]]]
		sub, in, out := g, g.In, g.Out
		if !wholeGraph(g, parts) {
			sub, in, out = g.Extract(nodes)
		}
		var prog device.Program
		if prog, err = d.Compile(ctx, device.Unit{Graph: sub, Weights: weights, Exclusive: exclusive,
			Order: partOrder(g, in, o.Order)}, o.Options); err != nil {
			return nil, fault.Wrap(pl.failed(nodes, err), "device %s", d.Info().ID)
		}
		p.plan.Stages = append(p.plan.Stages, exec.Stage{Device: d, Program: prog, In: slots(in), Out: slots(out)})
		for _, i := range nodes {
			pl.report.Nodes[i].Part = len(pl.report.Parts)
		}
		pl.report.Parts = append(pl.report.Parts, device.PartPlacement{Device: d.Info().ID, Nodes: len(nodes)})
	}
	pl.report.Edges = edges(g)
	p.placement = pl.report
	if err = p.connect(g, ranges(devices)); err != nil {
		return nil, err
	}
	return p, nil
}

// ranges come from the first device that takes open dimensions.
func ranges(devices []device.Device) (info device.Info) {
	for _, d := range devices {
		if info = d.Info(); info.Dynamic {
			break
		}
	}
	return info
}

// partOrder returns the orders of a part's inputs that are inputs of g.
func partOrder(g *graph.Graph, in []graph.Value, order [][]int) [][]int {
	if order == nil {
		return nil
	}
	own := make([][]int, len(in))
	for k, v := range in {
		if i := slices.Index(g.In, v); i >= 0 && i < len(order) {
			own[k] = order[i]
		}
	}
	return own
}

// keepConstants moves the constants that decomposition has made into the store.
func keepConstants(g *graph.Graph, w *mem.Weights) error {
	for v := range g.Values {
		c := g.Values[v].Fact.Const
		if c == nil {
			continue
		}
		data, err := w.Add(c.Hash(), c.Data)
		if err != nil {
			return err
		}
		g.Values[v].Fact.Const = tensor.NewHashedConst(data, c.Hash())
	}
	return nil
}

// wholeGraph reports whether the single part can be g itself: its outputs then are values that nodes make, each of them
// once.
func wholeGraph(g *graph.Graph, parts [][]int) bool {
	if len(parts) != 1 {
		return false
	}
	prod := g.Producers()
	seen := map[graph.Value]bool{}
	for _, v := range g.Out {
		if prod[v] < 0 || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// constPorts reports whether an input or output of g is a constant.
func constPorts(g *graph.Graph) bool {
	return slices.ContainsFunc(slices.Concat(g.In, g.Out),
		func(v graph.Value) bool { return g.Values[v].Fact.Const != nil })
}

func slots(vs []graph.Value) []int {
	out := make([]int, len(vs))
	for i, v := range vs {
		out[i] = int(v)
	}
	return out
}

// Support answers, per node of g, whether d computes it, whole or in parts.
func Support(g *graph.Graph, d device.Device, o device.Options) (answers []device.NodeSupport, err error) {
	defer func() {
		if v := recover(); v != nil {
			answers, err = nil, fault.New(fault.Internal, "support of %q: panic: %v", g.Name, v)
		}
	}()
	answers, err = ask(d, g, o)
	if err != nil {
		return nil, err
	}
	for i := range answers {
		if answers[i].OK {
			continue
		}
		if _, reason := inParts(g, i, d, o, 0); reason == "" {
			answers[i] = device.NodeSupport{OK: true}
		}
	}
	return answers, nil
}

// ask is d.Support with its answer checked.
func ask(d device.Device, g *graph.Graph, o device.Options) ([]device.NodeSupport, error) {
	s, err := d.Support(g, o)
	if err == nil && len(s) != len(g.Nodes) {
		err = fault.New(fault.Device, "%d answers for %d nodes", len(s), len(g.Nodes))
	}
	for i := range s {
		if !s[i].OK && s[i].Reason == "" {
			s[i].Reason = "not supported"
		}
	}
	return s, fault.Wrap(err, "device %s", d.Info().ID)
}

// describe joins the refusals of one node.
func describe(refused []device.Refusal) string {
	s := ""
	for i, r := range refused {
		if i > 0 {
			s += "; "
		}
		s += fmt.Sprintf("%s: %s", r.Device, r.Reason)
	}
	return s
}
