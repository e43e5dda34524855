package profile

import (
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Node is what one node took in a run, its arithmetic and its elements.
type Node struct {
	device.NodeTime
	FLOPs    int64
	Elements int64
	Class    string // kind of convolution, as in "3x3 s2 depthwise"; empty for other operators
}

// OpText is the operator with its class.
func (n *Node) OpText() string {
	if n.Class == "" {
		return n.Op
	}
	return n.Op + " " + n.Class
}

// GFLOPS is the rate in 10^9 operations per second, 0 for what took no time.
func (n *Node) GFLOPS() float64 {
	if n.Length <= 0 {
		return 0
	}
	return float64(n.FLOPs) / float64(n.Length.Nanoseconds())
}

// key tells nodes of a program apart; several nodes may share one and are taken in order.
type key struct {
	origin int
	op     string
}

// Join gives each entry the arithmetic and the elements of its node. g is the graph that was compiled, in are the
// inputs of the run.
// Steps that belong to no node of g have none. Errors are those of inference.
func Join(g *graph.Graph, in []tensor.Tensor, times []device.NodeTime) ([]Node, error) {
	sized, err := withSizes(g, in)
	if err != nil {
		return nil, err
	}
	nodes := map[key][]int{}
	for i := range sized.Nodes {
		k := key{sized.Nodes[i].Origin, graph.NameOf(sized.Nodes[i].Op)}
		nodes[k] = append(nodes[k], i)
	}
	out := make([]Node, len(times))
	for i, t := range times {
		out[i].NodeTime = t
		k := key{t.Node, t.Op}
		if c := nodes[k]; t.Node >= 0 && len(c) > 0 {
			out[i].FLOPs, out[i].Elements = FLOPs(sized, c[0]), Elements(sized, c[0])
			out[i].Class, nodes[k] = class(sized, c[0]), c[1:]
		}
	}
	return out, nil
}

// Total returns the arithmetic of all nodes of g for inputs of the sizes of in.
func Total(g *graph.Graph, in []tensor.Tensor) (int64, error) {
	sized, err := withSizes(g, in)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for i := range sized.Nodes {
		sum += FLOPs(sized, i)
	}
	return sum, nil
}

func withSizes(g *graph.Graph, in []tensor.Tensor) (*graph.Graph, error) {
	if len(in) != len(g.In) {
		return nil, fault.New(fault.Argument, "%d inputs, want %d", len(in), len(g.In))
	}
	sized := g.WithInputs(in)
	return sized, sized.Infer()
}

// Share is how much of a model runs on fast kernels. Nodes whose result is known before the run are not counted.
type Share struct {
	Nodes, FastNodes       int
	FLOPs, FastFLOPs       int64
	Elements, FastElements int64  // that are computed, moved or compared
	Slow                   []Node // nodes that do not
}

// ShareOf counts the nodes of a run.
func ShareOf(nodes []Node) Share {
	var s Share
	for _, n := range nodes {
		if n.NodeTime.Node < 0 {
			continue
		}
		s.Nodes++
		s.FLOPs += n.FLOPs
		s.Elements += n.Elements
		if n.Kernel == device.KernelFast || n.Kernel == device.KernelFused {
			s.FastNodes++
			s.FastFLOPs += n.FLOPs
			s.FastElements += n.Elements
		} else {
			s.Slow = append(s.Slow, n)
		}
	}
	return s
}

// NodePercent is the share of nodes, 100 when there are none.
func (s *Share) NodePercent() float64 { return percent(int64(s.FastNodes), int64(s.Nodes)) }

// FLOPPercent is the share of arithmetic, 100 when there is none.
func (s *Share) FLOPPercent() float64 { return percent(s.FastFLOPs, s.FLOPs) }

// ElementPercent is the share of elements, 100 when there are none.
func (s *Share) ElementPercent() float64 { return percent(s.FastElements, s.Elements) }

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
