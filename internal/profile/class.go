package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// class says more of node i than its operator does: window, stride and groups of a convolution, as in "3x3 s2
// depthwise"; empty for others.
func class(g *graph.Graph, i int) string {
	n := &g.Nodes[i]
	var strides []int64
	groups := int64(0)
	switch o := n.Op.(type) {
	case *op.Conv:
		strides, groups = o.Strides, o.Groups
	case *op.ConvTranspose:
		strides, groups = o.Strides, o.Groups
	default:
		return ""
	}
	w := dims(g, n.In[1])
	if len(w) < 3 {
		return ""
	}
	s := sizesText(w[1 : len(w)-1])
	if slices.ContainsFunc(strides, func(n int64) bool { return n != 1 }) {
		if slices.Min(strides) == slices.Max(strides) {
			strides = strides[:1]
		}
		s += " s" + sizesText(strides)
	}
	switch {
	case groups > 1 && w[len(w)-1] == 1:
		s += " depthwise"
	case groups > 1:
		s += fmt.Sprintf(" %d groups", groups)
	}
	return s
}

func sizesText(d []int64) string {
	parts := make([]string, len(d))
	for i, n := range d {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, "x")
}
