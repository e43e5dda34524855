package nnapi

import (
	"slices"

	"github.com/anynpu/anynpu/capi/nnapi/lowering"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// hopeful reports whether executions that leave inputs out may compute a model of which lowering has failed with err as
// a whole: the operation that has failed reads inputs that may be left out, and fails otherwise without them.
func hopeful(m *nnapi.Model, err error) bool {
	at, one := lowering.FailedOperation(err)
	if !one {
		return false
	}
	left := omittable(m, map[*nnapi.Model][]bool{})
	reads := slices.ContainsFunc(m.Operations[at].Inputs, func(v uint32) bool {
		i := slices.Index(m.Inputs, v)
		return i >= 0 && left[i]
	})
	if !reads {
		return false
	}
	key := make([]byte, len(m.Inputs))
	for i := range key {
		key[i] = isThere
		if left[i] {
			key[i] = leftOut
		}
	}
	without, _ := only(m, key, nil)
	_, other := lowering.Lower(without)
	return other == nil || other.Error() != err.Error()
}

// omittable tells of each input of a model whether an operation reads it that can do without, be it in a model of
// control flow. known has the answers for models that were looked at.
func omittable(m *nnapi.Model, known map[*nnapi.Model][]bool) []bool {
	if out, ok := known[m]; ok {
		return out
	}
	can := map[uint32]bool{}
	for _, op := range m.Operations {
		if op.Code == nnapi.If || op.Code == nnapi.While {
			for _, v := range op.Inputs {
				sub := m.Operands[v].Sub
				if sub == nil {
					continue
				}
				args := op.Inputs[len(op.Inputs)-len(sub.Inputs):]
				for i, may := range omittable(sub, known) {
					can[args[i]] = can[args[i]] || may
				}
			}
			continue
		}
		form := nnapi.FormOf(m, op)
		for k, v := range op.Inputs {
			if form != nil && form.Inputs.At(k, len(op.Inputs)).Omitted {
				can[v] = true
			}
		}
	}
	out := make([]bool, len(m.Inputs))
	for i, v := range m.Inputs {
		out[i] = can[v]
	}
	known[m] = out
	return out
}
