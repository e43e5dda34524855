package compile

import (
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// maxDecompose is how deep composite operators may be made of composite operators.
const maxDecompose = 8

// placed is a graph whose nodes all have a device, composite operators replaced where a device computes only their
// parts.
type placed struct {
	graph  *graph.Graph
	owner  []int // index of the device, per node
	source []int // the node of the given graph that each was made of
	banned bans
	report *device.Placement
}

// place finds a device for every node of g, which it takes over. formed says that g is a compiled form.
func place(g *graph.Graph, devices []device.Device, o Options, formed bool, banned bans) (*placed,
	error) {
	answers := make([][]device.NodeSupport, len(devices))
	for d := range devices {
		var err error
		if answers[d], err = ask(devices[d], g, o.Options); err != nil {
			return nil, err
		}
	}
	pl := &placed{graph: g, banned: banned, report: &device.Placement{Model: g.Name}}
	nodes := g.Nodes
	g.Nodes = nil
	rename := map[graph.Value]graph.Value{}
	for i := range nodes {
		n := nodes[i]
		report := device.NodePlacement{Origin: n.Origin, Op: graph.NameOf(n.Op), Name: n.Name}
		owner, parts := -1, (*graph.Graph)(nil)
		for d := range devices {
			why := banned[i][d]
			if why == "" {
				why = failures.of(devices[d], g, &n)
			}
			if why != "" {
				report.Refused = append(report.Refused, device.Refusal{Device: devices[d].Info().ID, Reason: why})
				continue
			}
			if answers[d][i].OK {
				owner = d
				break
			}
			reason := answers[d][i].Reason
			one := &graph.Graph{Name: g.Name, Values: g.Values, Nodes: []graph.Node{n}}
			if sub, why := inParts(one, 0, devices[d], o.Options, 0); why == "" {
				owner, parts = d, sub
				break
			} else if why != notComposite {
				reason += "; in parts: " + why
			}
			report.Refused = append(report.Refused, device.Refusal{Device: devices[d].Info().ID, Reason: reason})
		}
		_, compiled := n.Op.(*device.Compiled)
		if owner < 0 || o.Strict && owner > o.Own && (!formed || compiled) {
			return nil, fault.New(fault.Unsupported, "%s: %s", n.Label(), describe(report.Refused))
		}
		report.Device = devices[owner].Info().ID
		if parts == nil {
			g.Nodes = append(g.Nodes, n)
			pl.owner, pl.source = append(pl.owner, owner), append(pl.source, i)
			pl.report.Nodes = append(pl.report.Nodes, report)
			continue
		}
		from := len(g.Nodes)
		splice(g, n, parts, rename)
		for _, part := range g.Nodes[from:] {
			r := report
			r.Op, r.Within = graph.NameOf(part.Op), graph.NameOf(n.Op)
			pl.owner, pl.source = append(pl.owner, owner), append(pl.source, i)
			pl.report.Nodes = append(pl.report.Nodes, r)
		}
	}
	if len(rename) > 0 {
		renameAll(g, rename)
	}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return pl, g.Infer()
}

// failed is the error of a part that its device does not compile.
func (pl *placed) failed(nodes []int, err error) error {
	e := &partError{device: pl.owner[nodes[0]], err: err}
	for _, i := range nodes {
		if k := pl.source[i]; !slices.Contains(e.nodes, k) {
			e.nodes = append(e.nodes, k)
		}
	}
	return e
}

const notComposite = "not a composite operator"

// inParts expresses node i of g by simpler ones that d computes all; the result has the node's inputs and outputs
// (absent inputs left out), in order. reason says why that is not possible.
func inParts(g *graph.Graph, i int, d device.Device, o device.Options, depth int) (parts *graph.Graph, reason string) {
	n := &g.Nodes[i]
	c, ok := n.Op.(graph.Composite)
	if !ok {
		return nil, notComposite
	}
	if depth == maxDecompose {
		return nil, "too many operators inside operators"
	}
	b := graph.NewBuilder(g.Name)
	b.SetOrigin(n.Origin, n.Name)
	in := make([]graph.Value, len(n.In))
	for k, v := range n.In {
		in[k] = graph.None
		if v == graph.None {
			continue
		}
		if same := slices.Index(n.In[:k], v); same >= 0 {
			in[k] = in[same]
		} else {
			in[k] = b.Given(g.Values[v].Name, g.Fact(v))
		}
	}
	if n.Terms != nil {
		b.SetTerms(func(v graph.Value) string {
			if k := slices.Index(in, v); k >= 0 {
				return n.Terms[k]
			}
			return ""
		})
	}
	out, err := c.Decompose(b, in)
	if err == nil {
		err = b.Err()
	}
	if err == nil && len(out) != len(n.Out) {
		err = fault.New(fault.Internal, "%d results for %d outputs", len(out), len(n.Out))
	}
	if err != nil {
		return nil, err.Error()
	}
	b.Output(out...)
	if parts, err = b.Graph(); err != nil {
		return nil, err.Error()
	}
	o.Part = true
	answers, err := ask(d, parts, o)
	if err != nil {
		return nil, err.Error()
	}
	nodes := parts.Nodes
	parts.Nodes = nil
	rename := map[graph.Value]graph.Value{}
	for k := range nodes {
		if answers[k].OK {
			parts.Nodes = append(parts.Nodes, nodes[k])
			continue
		}
		one := &graph.Graph{Name: g.Name, Values: parts.Values, Nodes: nodes[k : k+1]}
		deeper, why := inParts(one, 0, d, o, depth+1)
		if why != "" {
			return nil, graph.NameOf(nodes[k].Op) + ": " + answers[k].Reason
		}
		splice(parts, nodes[k], deeper, rename)
	}
	renameAll(parts, rename)
	return parts, ""
}

// splice adds the nodes of parts, made by inParts of n, to g in place of n. An output of n that parts does not compute
// (an input or constant passed through, or the same value twice) is entered into rename instead.
func splice(g *graph.Graph, n graph.Node, parts *graph.Graph, rename map[graph.Value]graph.Value) {
	to := make([]graph.Value, len(parts.Values))
	for i := range to {
		to[i] = graph.None
	}
	var given []graph.Value // the node's inputs in the order in which inParts made inputs of them
	for k, v := range n.In {
		if v != graph.None && g.Fact(v).Const == nil && !slices.Contains(n.In[:k], v) {
			given = append(given, v)
		}
	}
	for i, v := range parts.In {
		to[v] = given[i]
	}
	prod := parts.Producers()
	for k, v := range parts.Out {
		if prod[v] >= 0 && to[v] == graph.None && n.Out[k] != graph.None {
			to[v] = n.Out[k]
		}
	}
	for v := range parts.Values {
		if to[v] == graph.None {
			to[v] = graph.Value(len(g.Values))
			g.Values = append(g.Values, parts.Values[v])
		}
	}
	for k, v := range parts.Out {
		if n.Out[k] != graph.None && to[v] != n.Out[k] {
			rename[n.Out[k]] = to[v]
		}
	}
	move := func(vs []graph.Value) []graph.Value {
		out := make([]graph.Value, len(vs))
		for i, v := range vs {
			out[i] = graph.None
			if v != graph.None {
				out[i] = to[v]
			}
		}
		return out
	}
	for _, p := range parts.Nodes {
		p.In, p.Out = move(p.In), move(p.Out)
		if p.Name == "" {
			p.Name = n.Name
		}
		g.Nodes = append(g.Nodes, p)
	}
}

// renameAll replaces values that are read, in nodes and outputs; a replacement may itself be replaced.
func renameAll(g *graph.Graph, rename map[graph.Value]graph.Value) {
	if len(rename) == 0 {
		return
	}
	replace := func(vs []graph.Value) {
		for i, v := range vs {
			for to, ok := rename[v]; ok; to, ok = rename[v] {
				v = to
			}
			vs[i] = v
		}
	}
	for i := range g.Nodes {
		g.Nodes[i].In = slices.Clone(g.Nodes[i].In)
		replace(g.Nodes[i].In)
	}
	replace(g.Out)
}
