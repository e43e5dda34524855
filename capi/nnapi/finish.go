package nnapi

import (
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// checkWhole judges a model by the rules that only a whole one can break (section 3, Model_finish), and its operations
// once more, because their operands may have been given values since. Errors name the operand or the operation.
func checkWhole(m *nnapi.Model, level nnapi.FeatureLevel) error {
	switch {
	case len(m.Operands) == 0:
		return fault.New(fault.Argument, "it has no operand [nnapi-no-operand]")
	case len(m.Operations) == 0:
		return fault.New(fault.Argument, "it has no operation [nnapi-no-operation]")
	case len(m.Outputs) == 0:
		return fault.New(fault.Argument, "its inputs and outputs are not identified: call "+
			"ANeuralNetworksModel_identifyInputsAndOutputs first [nnapi-inputs-outputs-identified]")
	}
	for i := range m.Operands {
		o := &m.Operands[i]
		switch {
		case o.Type == nnapi.TensorInt32 && (!(o.Scale >= 0) || o.ZeroPoint != 0):
			return fault.New(fault.Argument, "operand %d: TENSOR_INT32 with scale %v and zero point %d: want a scale of 0 or "+
				"above and zero point 0 [nnapi-operand-tensor-int32]", i, o.Scale, o.ZeroPoint)
		case o.Type == nnapi.TensorQuant8SymmPerChannel && o.Channel == nil && o.Lifetime != nnapi.NoValue:
			return fault.New(fault.Argument, "operand %d: TENSOR_QUANT8_SYMM_PER_CHANNEL without scales: call "+
				"ANeuralNetworksModel_setOperandSymmPerChannelQuantParams [nnapi-operand-tensor-quant8]", i)
		}
	}
	for i, op := range m.Operations {
		if err := nnapi.Check(m, op, level); err != nil {
			return fault.Wrap(err, "operation %d", i)
		}
	}
	writer, err := writers(m)
	if err != nil {
		return err
	}
	return checkOrder(m, writer)
}

// noWriter marks an operand that no operation writes.
const noWriter = -1

// writers returns the operation that writes each operand.
func writers(m *nnapi.Model) ([]int, error) {
	writer := make([]int, len(m.Operands))
	for i := range writer {
		writer[i] = noWriter
	}
	for i, op := range m.Operations {
		for k, v := range op.Outputs {
			switch l := m.Operands[v].Lifetime; {
			case l != nnapi.Temporary && l != nnapi.Output:
				return nil, fault.New(fault.Argument, "operation %d %v writes operand %d as output %d, which is "+
					"%s [nnapi-operation-writes-operand]", i, op.Code,
					v, k, lifetimeText[l])
			case writer[v] != noWriter:
				return nil, fault.New(fault.Argument, "operation %d %v writes operand %d as output %d, which operation %d %v "+
					"writes too "+
					"[nnapi-operation-writes-operand-output]", i, op.Code, v, k, writer[v], m.Operations[writer[v]].Code)
			}
			writer[v] = i
		}
	}
	for i := range m.Operands {
		if l := m.Operands[i].Lifetime; (l == nnapi.Temporary || l == nnapi.Output) && writer[i] == noWriter {
			return nil, fault.New(fault.Argument, "operand %d, %v, is neither written by an operation nor an input or a "+
				"constant%s [nnapi-operand-written-operation]", i, m.Operands[i].Type, readers(m, uint32(i)))
		}
	}
	return writer, nil
}

var lifetimeText = map[nnapi.Lifetime]string{
	nnapi.Input:    "an input of the model",
	nnapi.Constant: "a constant",
	nnapi.NoValue:  "an operand without a value",
	nnapi.Subgraph: "a model",
}

// readers names the first operation that reads an operand.
func readers(m *nnapi.Model, operand uint32) string {
	for i, op := range m.Operations {
		for k, v := range op.Inputs {
			if v == operand {
				return fmt.Sprintf("; operation %d %v reads it as input %d", i, op.Code, k)
			}
		}
	}
	return "; nothing reads it either"
}

// checkOrder finds circles: operations that wait for each other's results.
func checkOrder(m *nnapi.Model, writer []int) error {
	waits := make([]int, len(m.Operations)) // results of other operations that each reads
	consumers := make([][]int, len(m.Operations))
	for i, op := range m.Operations {
		for _, v := range op.Inputs {
			if w := writer[v]; w != noWriter {
				waits[i]++
				consumers[w] = append(consumers[w], i)
			}
		}
	}
	var ready []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, c := range consumers[i] {
			if waits[c]--; waits[c] == 0 {
				ready = append(ready, c)
			}
		}
	}
	if done == len(m.Operations) {
		return nil
	}
	for i, n := range waits {
		if n > 0 {
			return fault.New(fault.Argument, "operation %d %v is in a circle, or behind one: it waits for its "+
				"own result [nnapi-operation-circle-behind]", i,
				m.Operations[i].Code)
		}
	}
	return nil
}
