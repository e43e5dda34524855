package ohnn

import (
	"slices"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// operation is one operation of a model, with its parameters decoded.
type operation struct {
	*spec.Rule
	inputs, outputs []uint32 // tensor indices
	values          map[string]value
}

// value is a decoded parameter. Numbers of every type are in ints or floats.
type value struct {
	ints   []int64
	floats []float32
}

// ruleFor returns the operator's rule after comparing it with the lengths of the three lists, of which nothing has been
// read then.
func ruleFor(o OperationType, params, inputs, outputs int) (*spec.Rule, error) {
	r := spec.RuleOf(o)
	switch {
	case r == nil:
		return nil, invalid("op: %d is no OH_NN_OperationType: 1 to %d "+
			"[ohnn-op-no-operation]", int32(o), len(spec.Rules))
	case !r.In.OK(inputs):
		return nil, invalid("inputIndices.size: %d: %v takes %s [ohnn-input-indices-size]", inputs, o, r.In.Of("input"))
	case !r.Out.OK(outputs):
		return nil, invalid("outputIndices.size: %d: %v makes %s "+
			"[ohnn-output-indices-size]", outputs, o, r.Out.Of("output"))
	case params > len(r.Params):
		if len(r.Params) == 0 {
			return nil, invalid("paramIndices.size: %d: %v has no parameters [ohnn-param-indices-size]", params, o)
		}
		return nil, invalid("paramIndices.size: %d: %v has %s: %s "+
			"[ohnn-param-indices-size-rule]", params, o, spec.Exactly(len(r.Params)).Of("parameter"),
			r.ParamList())
	}
	return r, nil
}

// has reports whether the parameter was given.
func (o *operation) has(name string) bool {
	_, ok := o.values[o.known(name)]
	return ok
}

// int returns the parameter's value, or def when it was not given.
func (o *operation) int(name string, def int64) int64 {
	if v, ok := o.values[o.known(name)]; ok {
		return v.ints[0]
	}
	return def
}

// ints returns the list, nil when it was not given.
func (o *operation) ints(name string) []int64 { return o.values[o.known(name)].ints }

// flag returns the boolean, or def when it was not given.
func (o *operation) flag(name string, def bool) bool {
	if v, ok := o.values[o.known(name)]; ok {
		return v.ints[0] != 0
	}
	return def
}

// float returns the parameter's value, or def when it was not given.
func (o *operation) float(name string, def float32) float32 {
	if v, ok := o.values[o.known(name)]; ok {
		return v.floats[0]
	}
	return def
}

// floats returns the list, nil when it was not given.
func (o *operation) floats(name string) []float32 { return o.values[o.known(name)].floats }

// known guards against a misspelt name.
func (o *operation) known(name string) string {
	if !slices.ContainsFunc(o.Params, func(p spec.Param) bool { return p.Name == name }) {
		panic("ohnn: " + o.Name + " has no parameter " + name)
	}
	return name
}
