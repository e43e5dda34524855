package rknn

import (
	"github.com/anynpu/anynpu/core/border"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// exposeQuantized lets the integers of quantized inputs and outputs cross the border of a graph, as the vendor's
// converter does; the ports know what they mean.
func exposeQuantized(g *graph.Graph, in, out []*port) {
	quantIn, quantOut := border.Integers(g)
	expose(g, in, g.In, quantIn)
	expose(g, out, g.Out, quantOut)
}

func expose(g *graph.Graph, ports []*port, values []graph.Value, q []*tensor.Quant) {
	for i, p := range ports {
		if q[i] != nil {
			p.Quant, p.Type = convert.CodeOf(q[i]), g.Fact(values[i]).DType
		}
	}
}
