package nnapi

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// fusedKinds are the operations that other operations may do on their results.
var fusedKinds = map[spec.OperationCode]int32{spec.ReLU: spec.FusedReLU, spec.ReLU1: spec.FusedReLU1,
	spec.ReLU6: spec.FusedReLU6}

// simplify fuses activations into what makes their operands, and leaves out operations whose results nobody reads. The
// outputs of the graph stay.
func (t *translation) simplify() {
	t.drop()
	readers, makers := map[*operand]int{}, map[*operand]*operation{}
	for _, o := range t.ops {
		for _, x := range o.in {
			readers[x]++
		}
		for _, y := range o.out {
			makers[y] = o
		}
	}
	for _, v := range t.g.Out {
		readers[t.value(v)]++
	}
	for _, o := range t.ops {
		kind, is := fusedKinds[o.code]
		if !is || readers[o.in[0]] != 1 {
			continue
		}
		maker, x, y := makers[o.in[0]], o.in[0], o.out[0]
		if maker == nil || x.code != y.code || x.typ.DType == tensor.Int32 || !x.typ.Quant.Equal(y.typ.Quant) {
			continue
		}
		at := slices.IndexFunc(maker.in, func(x *operand) bool { return x.fuse })
		if at < 0 {
			continue
		}
		maker.in[at] = whole(int64(kind))
		maker.out = []*operand{y}
		makers[y], o.out = maker, nil
	}
	t.drop()
}

// drop leaves out operations whose results nobody reads. Operations stand behind those whose results they read.
func (t *translation) drop() {
	read := map[*operand]bool{}
	for _, v := range t.g.Out {
		if v != graph.None {
			read[t.value(v)] = true
		}
	}
	var kept []*operation
	for _, o := range slices.Backward(t.ops) {
		if !slices.ContainsFunc(o.out, func(y *operand) bool { return read[y] }) {
			continue
		}
		for _, x := range o.in {
			read[x] = true
		}
		kept = append(kept, o)
	}
	slices.Reverse(kept)
	t.ops = kept
}
