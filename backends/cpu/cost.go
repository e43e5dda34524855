package cpu

import (
	"math"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// stepsPerNanosecond is how many of ref.Work's steps (an element moved or changed, a product added) a thread makes with
// the fast kernels: the order of magnitude, for comparisons with other devices.
const stepsPerNanosecond = 8

// cost estimates the time that node n of g takes, 0 where a size is unknown or what is inside is not known.
func (d *Device) cost(g *graph.Graph, n *graph.Node) time.Duration {
	in, out := make([]tensor.Tensor, len(n.In)), make([]tensor.Type, 0, len(n.Out))
	for i, v := range n.In {
		if v == graph.None {
			continue
		}
		f := g.Fact(v)
		dims, ok := f.Shape.Ints()
		if !ok {
			return 0
		}
		in[i] = tensor.Tensor{DType: f.DType, Dims: dims}
	}
	for _, v := range n.Out {
		if v == graph.None {
			continue
		}
		out = append(out, g.Fact(v).Type)
		if !g.Fact(v).Shape.Static() {
			return 0
		}
	}
	steps := ref.Work(n.Op, in, out)
	if steps == math.MaxInt64 {
		return 0
	}
	return time.Duration(1 + steps/int64(stepsPerNanosecond*d.threads.count))
}
