package lower

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// singleInputs are the inputs that are a single element, whose rank ONNX leaves open.
var singleInputs = map[string][]int{"BlackmanWindow": {0}, "Clip": {1, 2}, "CumProd": {1}, "CumSum": {1},
	"DFT": {1, 2}, "HammingWindow": {0}, "HannWindow": {0}, "If": {0}, "Loop": {0, 1},
	"MelWeightMatrix": {0, 1, 2, 3, 4}, "NonMaxSuppression": {2, 3, 4}, "OneHot": {1}, "Pad": {2}, "Range": {0, 1, 2},
	"STFT": {1, 3}, "TopK": {1}, "Trilu": {1}}

// singles makes lists of one of those that have more dimensions, or may have when the model runs.
func (n *node) singles() {
	if n.p.Domain != "" {
		return
	}
	for _, i := range singleInputs[n.p.OpType] {
		if n.has(i) && n.arg(i) != graph.None {
			s := n.fact(i).Shape
			if c, ok := s.Count(); s.Rank() < 0 || s.Rank() > 1 && (!ok || c == 1) {
				n.in[i] = n.b.Add(&op.Reshape{}, n.in[i], n.b.Int64s(1))
			}
		}
	}
}
