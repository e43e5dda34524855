package onnx

import (
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

// checkForm checks what a lowering does not see: attributes that the operator does not have, and their types, inputs
// that it does not look at, and attributes that must be there.
func (p *nodeProto) checkForm(version int64) error {
	for _, name := range sortedKeys(p.attrs) {
		if err := p.checkAttribute(name, p.attrs[name], version); err != nil {
			return err
		}
	}
	if p.opType == "Concat" && version >= 4 && p.attrs["axis"] == nil {
		return fault.New(fault.File, "attribute axis is missing")
	}
	list := inputCounts[p.opType]
	i := slices.IndexFunc(list, func(c inputCount) bool { return c.before == 0 || version < c.before })
	if i < 0 {
		return nil
	}
	n := len(p.in)
	if c := list[i]; n < c.least || n > c.most {
		return fault.New(fault.File, "want %s, got %d", fault.Numbers(c.least, c.most, "input"), n)
	}
	for k := range list[i].least {
		if p.in[k] == "" {
			return fault.New(fault.File, "input %d is missing", k)
		}
	}
	return nil
}

// checkForms checks the nodes of a graph that is not lowered, and of the bodies in it.
func (im *importer) checkForms(nodes []*nodeProto, version int64) error {
	for _, p := range nodes {
		if im.functions[p.domain+"\x00"+p.opType+"\x00"+p.overload] == nil && p.domain == "" && lowerings[p.opType] != nil {
			if err := p.checkForm(version); err != nil {
				return fault.Wrap(err, "%s", p.label())
			}
		}
		for _, name := range sortedKeys(p.attrs) {
			if g := p.attrs[name].g; g != nil {
				if err := im.checkForms(g.nodes, version); err != nil {
					return fault.Wrap(err, "%s: attribute %s", p.label(), name)
				}
			}
		}
	}
	return nil
}
