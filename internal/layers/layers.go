// Package layers compares two computations of a network value by value: how far each value is from its counterpart, and
// how much of that the node which made it adds, apart from what it inherits.
package layers

import (
	"context"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// Side is a network and what computes it.
type Side struct {
	Graph   *graph.Graph
	Devices []device.Device
	Options compile.Options // Consume must not be set: the constants are needed again
	Fused   bool            // Run keeps the values alone that are in memory where nodes are fused
}

// Values are tensors by the value of the graph that they belong to.
type Values map[graph.Value]tensor.Tensor

// Run computes the network once, with every value that a node makes kept: nodes are not fused, unless Fused says so. in
// has a tensor per input of the graph.
func (s *Side) Run(ctx context.Context, in []tensor.Tensor) (Values, error) {
	g := Expose(s.Graph)
	if s.Fused {
		p, err := compile.Compile(ctx, s.Graph, s.Devices, s.Options)
		if err != nil {
			return nil, err
		}
		kept, own := p.Kept(s.Graph), len(s.Graph.Out)
		p.Release()
		if kept != nil {
			inner := slices.DeleteFunc(slices.Clone(g.Out[own:]), func(v graph.Value) bool { return !kept[g.Values[v].Name] })
			g.Out = append(g.Out[:own:own], inner...)
		}
	}
	results, err := run(ctx, g, s.Devices, s.Options, in)
	if err != nil {
		return nil, err
	}
	values := Values{}
	for i, v := range g.In {
		values[v] = in[i]
	}
	for i, v := range g.Out {
		values[v] = results[i]
	}
	return values, nil
}

// Outputs computes the network once as programs have it computed, and returns its outputs.
func (s *Side) Outputs(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
	return run(ctx, s.Graph, s.Devices, s.Options, in)
}

func run(ctx context.Context, g *graph.Graph, devices []device.Device, o compile.Options, in []tensor.Tensor) (
	[]tensor.Tensor, error) {
	s, err := session.Open(ctx, g, devices, o, device.ExecOptions{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Run(ctx, in, time.Time{})
}

// Expose returns a graph that shares everything with g but its outputs: behind g's own, all other values that nodes
// make, in an executable order.
func Expose(g *graph.Graph) *graph.Graph {
	exposed := *g
	exposed.Out = slices.Clone(g.Out)
	seen := make(map[graph.Value]bool, len(g.Values))
	for _, v := range g.Out {
		seen[v] = true
	}
	for _, n := range orderOf(g) {
		for _, v := range g.Nodes[n].Out {
			if v != graph.None && !seen[v] {
				seen[v] = true
				exposed.Out = append(exposed.Out, v)
			}
		}
	}
	return &exposed
}

// orderOf is g.Order of a graph that has one: every imported graph.
func orderOf(g *graph.Graph) []int {
	order, err := g.Order()
	if err != nil {
		return nil
	}
	return order
}

// Part is the smallest part of a network that makes a value of others that are known.
type Part struct {
	Graph *graph.Graph  // with the sizes of In
	Nodes []int         // of the whole network, in ascending order
	Reads []graph.Value // of the whole network: what the inputs stand for
	In    []tensor.Tensor
}

// Part returns the part that makes v of known values and constants. Kind fault.Argument when that reads an input which
// is not known.
func (s *Side) Part(v graph.Value, known Values) (*Part, error) {
	nodes, err := between(s.Graph, v, known)
	if err != nil {
		return nil, err
	}
	g, reads, makes := Expose(s.Graph).Extract(nodes)
	p := &Part{Nodes: nodes, Reads: reads, In: make([]tensor.Tensor, len(reads))}
	for i, r := range reads {
		p.In[i] = known[r]
	}
	g.Out = []graph.Value{g.Out[slices.Index(makes, v)]}
	p.Graph = g.WithInputs(p.In)
	return p, p.Graph.Infer()
}

// Alone computes value v of the side's network from the counterparts of what its node reads, which are known. What has
// no counterpart is computed too, so that the part between counterparts is as small as it can be. It returns the nodes
// of the part.
func (s *Side) Alone(ctx context.Context, v graph.Value, known Values) (tensor.Tensor, []int, error) {
	p, err := s.Part(v, known)
	if err != nil {
		return tensor.Tensor{}, nil, err
	}
	o := s.Options
	o.Weights, o.Forms, o.Order = nil, nil, nil
	results, err := run(ctx, p.Graph, s.Devices, o, p.In)
	if err != nil {
		return tensor.Tensor{}, p.Nodes, err
	}
	return results[0], p.Nodes, nil
}

// between returns the nodes that make v of known values and constants, in ascending order.
func between(g *graph.Graph, v graph.Value, known Values) ([]int, error) {
	producers := g.Producers()
	taken := map[int]bool{}
	nodes := []int{}
	todo := []graph.Value{v}
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := producers[u]
		if n < 0 {
			return nil, fault.New(fault.Argument, "input %q has no counterpart", g.Values[u].Name)
		}
		if taken[n] {
			continue
		}
		taken[n] = true
		nodes = append(nodes, n)
		for _, in := range g.Nodes[n].In {
			if in == graph.None || g.Values[in].Fact.Const != nil {
				continue
			}
			if _, ok := known[in]; !ok {
				todo = append(todo, in)
			}
		}
	}
	slices.Sort(nodes)
	return nodes, nil
}
