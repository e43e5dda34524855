package onnx

import "github.com/anynpu/anynpu/core/op"

// singleInputs are the inputs that are a single element, whose rank ONNX leaves open.
var singleInputs = map[string][]int{"Clip": {1, 2}, "CumProd": {1}, "CumSum": {1}, "If": {0}, "Loop": {0, 1},
	"OneHot": {1}, "Pad": {2}, "Range": {0, 1, 2}, "TopK": {1}, "Trilu": {1}}

// singles makes lists of one of those that have more dimensions.
func (n *node) singles() {
	if n.p.domain != "" {
		return
	}
	for _, i := range singleInputs[n.p.opType] {
		if n.has(i) && n.seqs[i] == nil && n.fact(i).Shape.Rank() > 1 {
			if c, ok := n.fact(i).Shape.Count(); !ok || c == 1 {
				n.in[i] = n.b.Add(&op.Reshape{}, n.in[i], n.b.Int64s(1))
			}
		}
	}
}
