package ohnn

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

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
		kind := map[string]int64{"RELU": spec.FusedReLU, "RELU6": spec.FusedReLU6}[o.Name]
		if kind == spec.FusedNone || readers[o.in[0]] != 1 {
			continue
		}
		maker, x, y := makers[o.in[0]], o.in[0], o.out[0]
		if maker == nil || x.typ.DType != y.typ.DType || !x.typ.Quant.Equal(y.typ.Quant) {
			continue
		}
		name := maker.activation()
		if name == "" {
			continue
		}
		maker.params = append(maker.params, ints(name, kind).of(maker.Rule))
		maker.out = []*operand{y}
		makers[y], o.out = maker, nil
	}
	t.drop()
}

// activation is the name of the parameter that would fuse an activation, empty if there is none or it is given.
func (o *operation) activation() string {
	for _, p := range o.params {
		if strings.HasPrefix(p.Name, "ACTIVATION") {
			return ""
		}
	}
	for _, p := range o.Params {
		if strings.HasPrefix(p.Name, "ACTIVATION") {
			return p.Name
		}
	}
	return ""
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
