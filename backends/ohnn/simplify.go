package ohnn

import (
	"strings"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// fuse reports whether maker does the activation o on its result, which it does from now on.
func fuse(maker, o *operation) bool {
	kind, x, y := map[string]int64{"RELU": spec.FusedReLU, "RELU6": spec.FusedReLU6}[o.Name], o.in[0], o.out[0]
	if kind == spec.FusedNone || x.typ.DType != y.typ.DType || !x.typ.Quant.Equal(y.typ.Quant) {
		return false
	}
	name := maker.activation()
	if name == "" {
		return false
	}
	maker.params = append(maker.params, ints(name, kind).of(maker.Rule))
	maker.out, o.out = o.out, nil
	return true
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
