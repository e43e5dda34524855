package operations

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// spec is the case's operation as the signature table judges it.
func (c *Case) spec() (*nnapi.Model, nnapi.Operation) {
	m := &nnapi.Model{}
	code, _ := codeOf(c.Op)
	op := nnapi.Operation{Code: code}
	for i, o := range slices.Concat(c.In, c.Out) {
		x := nnapi.Operand{Type: nnapi.OperandCode(model.Types[o.Type].Code), Dims: o.Dims, Scale: o.Scale, ZeroPoint: o.Zero}
		switch {
		case o.None:
			x.Lifetime = nnapi.NoValue
		case o.Model != "":
			x.Lifetime = nnapi.Subgraph
		}
		m.Operands = append(m.Operands, x)
		if i < len(c.In) {
			op.Inputs = append(op.Inputs, uint32(i))
		} else {
			op.Outputs = append(op.Outputs, uint32(i))
		}
	}
	return m, op
}

func codeOf(name string) (nnapi.OperationCode, bool) {
	for c := range nnapi.OperationCode(nnapi.Operations) {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

// words are the types by the words of cases.
func words(of []nnapi.OperandCode) (row [3]string) {
	for i, code := range of {
		for word, t := range model.Types {
			if nnapi.OperandCode(t.Code) == code {
				row[i] = word
			}
		}
	}
	return row
}
