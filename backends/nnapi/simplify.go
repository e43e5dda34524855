package nnapi

import (
	"slices"

	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// fusedKinds are the operations that other operations may do on their results.
var fusedKinds = map[spec.OperationCode]int32{spec.ReLU: spec.FusedReLU, spec.ReLU1: spec.FusedReLU1,
	spec.ReLU6: spec.FusedReLU6}

// fuse reports whether maker does the activation o on its result, which it does from now on.
func fuse(maker, o *operation) bool {
	kind, is := fusedKinds[o.code]
	x, y := o.in[0], o.out[0]
	if !is || x.code != y.code || x.typ.DType == tensor.Int32 || !x.typ.Quant.Equal(y.typ.Quant) {
		return false
	}
	at := slices.IndexFunc(maker.in, func(x *operand) bool { return x.fuse })
	if at < 0 {
		return false
	}
	maker.in[at] = int32Scalar(int64(kind))
	maker.out, o.out = o.out, nil
	return true
}
