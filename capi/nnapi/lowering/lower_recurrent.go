package lowering

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.SVDF: lowerSVDF,
	})
}

// lowerSVDF puts the activation behind the layer.
func lowerSVDF(n *node) {
	fused := n.fuse(6)
	out := n.many(&op.SVDF{Rank: n.size32(5, 1)}, []tensor.Type{n.outType(1), n.outType(0)}, n.in(0), n.in(1), n.in(2),
		n.in(3), n.in(4))
	n.put(0, out[1])
	n.put(1, n.clipped(1, fused, out[0]))
}
