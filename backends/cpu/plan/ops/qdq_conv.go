package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// matchQDQConv finds a convolution of codes with codes.
func matchQDQConv(p *ir.Program, i int) *ir.Patch {
	if _, is := p.Net.Graph.Nodes[i].Op.(*op.Conv); !is {
		return nil
	}
	return matchQDQSum(p, i)
}

// matchQDQProduct finds a product of codes with a matrix of codes.
func matchQDQProduct(p *ir.Program, i int) *ir.Patch {
	if _, is := p.Net.Graph.Nodes[i].Op.(*op.MatMul); !is {
		return nil
	}
	return matchQDQSum(p, i)
}

// matchQDQSum finds a sum of products of codes that becomes codes.
func matchQDQSum(p *ir.Program, i int) *ir.Patch {
	c := codedSum(p, i)
	if c == nil {
		return nil
	}
	if c.epi = qdqEpilogueOf(p, p.Net.Graph.Nodes[i].Out[0], c.axis); c.epi == nil {
		return realSum(p, i, i, c)
	}
	if !c.requantize() {
		return nil
	}
	if c.conv != nil && c.conv.depthwise() {
		if !c.conv.flat() || !kernel.FastDepthwiseInt8(c.taps, c.n) {
			return nil // float32 is faster than a product for each channel
		}
		return c.patch(p, i, c.depthwise(run.NHWC, c.post))
	}
	if q := c.gemm(); q != nil {
		return c.patch(p, i, q)
	}
	if q := c.grouped(); q != nil {
		return c.patch(p, i, q)
	}
	return nil
}
