package proto

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
)

// inputCount says how many inputs an operator has in the versions before one, of those whose lowering or operator does
// not say it.
type inputCount struct {
	before      int64 // 0: all that are left
	least, most int
}

var inputCounts = map[string][]inputCount{
	"Attention":                 {{24, 3, 6}, {0, 3, 7}},
	"Cast":                      {{0, 1, 1}},
	"CastLike":                  {{0, 2, 2}},
	"Clip":                      {{11, 1, 1}, {0, 1, 3}},
	"ConstantOfShape":           {{0, 1, 1}},
	"Dropout":                   {{12, 1, 1}, {0, 1, 3}},
	"Gather":                    {{0, 2, 2}},
	"Gemm":                      {{11, 3, 3}, {0, 2, 3}},
	"Hardmax":                   {{0, 1, 1}},
	"LayerNormalization":        {{0, 2, 3}},
	"LogSoftmax":                {{0, 1, 1}},
	"MeanVarianceNormalization": {{0, 1, 1}},
	"Multinomial":               {{0, 1, 1}},
	"Pad":                       {{11, 1, 1}, {18, 2, 3}, {0, 2, 4}},
	"ReduceMax":                 {{18, 1, 1}, {0, 1, 2}},
	"ReduceMin":                 {{18, 1, 1}, {0, 1, 2}},
	"Resize":                    {{11, 2, 2}, {0, 1, 4}},
	"Slice":                     {{10, 1, 1}, {0, 3, 5}},
	"Softmax":                   {{0, 1, 1}},
	"TopK":                      {{10, 1, 1}, {0, 2, 2}},
	"Transpose":                 {{0, 1, 1}},
	"Unsqueeze":                 {{13, 1, 1}, {0, 2, 2}},
	"Upsample":                  {{9, 1, 1}, {0, 2, 2}},
}

// CheckForm checks what a lowering does not see: attributes that the operator does not have, and their types, inputs
// that it does not look at, and attributes that must be there.
func (p *Node) CheckForm(version int64) error {
	for _, name := range slices.Sorted(maps.Keys(p.Attrs)) {
		if err := p.checkAttribute(name, p.Attrs[name], version); err != nil {
			return err
		}
	}
	if p.Domain != "" { // version counts ai.onnx's opsets
		return nil
	}
	if p.OpType == "Concat" && version >= 4 && p.Attrs["axis"] == nil {
		return fault.New(fault.File, "attribute axis is missing")
	}
	list := inputCounts[p.OpType]
	i := slices.IndexFunc(list, func(c inputCount) bool { return c.before == 0 || version < c.before })
	if i < 0 {
		return nil
	}
	n := len(p.In)
	if c := list[i]; n < c.least || n > c.most {
		return fault.New(fault.File, "want %s, got %d", fault.Numbers(c.least, c.most, "input"), n)
	}
	for k := range list[i].least {
		if p.In[k] == "" {
			return fault.New(fault.File, "input %d is missing", k)
		}
	}
	return nil
}
