package lowering

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.RandomMultinomial: lowerMultinomial,
		nnapi.LSHProjection:     lowerLSHProjection,
	})
}

func lowerMultinomial(n *node) {
	if d := n.dim(n.in(2), 0); d.Known() && d.N != 2 {
		n.fail(fault.Shape, "%s: want 2 numbers, got %d [nnapi-numbers-got]", n.term(2), d.N)
	}
	n.emit(&op.Multinomial{To: tensor.Int32}, n.in(0), n.in(1), n.in(2))
}

var lshForms = map[int64]op.LSHForm{nnapi.LSHSparseDeprecated: op.LSHPlain, nnapi.LSHDense: op.LSHDense,
	nnapi.LSHSparse: op.LSHSparse}

// lowerLSHProjection: the dense form has weights, the others have none.
func lowerLSHProjection(n *node) {
	form := n.int(3)
	n.within(3, form, nnapi.LSHSparseDeprecated, nnapi.LSHSparse)
	if dense := form == nnapi.LSHDense; dense != n.given(2) {
		n.fail(fault.Argument, "%s: want it given for type 2 (dense) and left out for the others, the type is %d "+
			"[nnapi-given-type-dense]", n.term(2),
			form)
	}
	n.emit(&op.LSHProjection{Form: lshForms[form]}, n.in(0), n.in(1), n.in(2))
}
