package nnapi

import (
	"sync"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Model is an ANeuralNetworksModel (section 3): open until modelFinish, and never changed after it, so compilations
// share it and keep it alive when the program frees it. Safe for concurrent use.
type Model struct {
	handle.Ref

	mu       sync.Mutex
	spec     nnapi.Model
	loans    map[uint32]mem.Buffer // operands whose value is the program's until the model is finished; nil for pointers
	finished bool                  // modelFinish was called
	defect   string                // why a finished model is invalid, "" normally
	lowered  lowered               // made of a valid model on first use
}

// maxList is the most operands and operations that the API has indices for.
const maxList = 1<<32 - 2

func modelCreate() (*Model, error) { return &Model{loans: map[uint32]mem.Buffer{}}, nil }

func modelFree(m *Model) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endLoans()
	return nil
}

// endLoans lets go of memory that constants were to be copied from.
func (m *Model) endLoans() {
	for _, buf := range m.loans {
		if buf != nil {
			buf.Release()
		}
	}
	clear(m.loans)
}

// endLoan is endLoans for one operand, whose value is set anew.
func (m *Model) endLoan(index uint32) {
	if buf := m.loans[index]; buf != nil {
		buf.Release()
	}
	delete(m.loans, index)
}

// open refuses a change of a finished model.
func (m *Model) open() error {
	if m.finished {
		return badState("model: it is finished: nothing can be added or changed after " +
			"ANeuralNetworksModel_finish [nnapi-model-finished-nothing]")
	}
	return nil
}

// valid refuses the use of a model that is not finished, or whose finish has failed.
func (m *Model) valid(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !m.finished:
		return badState("%s: it is not finished: call ANeuralNetworksModel_finish first "+
			"[nnapi-finished-model-finish]", name)
	case m.defect != "":
		return badState("%s: it is invalid, because ANeuralNetworksModel_finish has failed: %s "+
			"[nnapi-invalid-model-finish]", name, m.defect)
	}
	return nil
}

// operand returns operand index. A negative index of the program's is one that is too large.
func (m *Model) operand(name string, index uint32) (*nnapi.Operand, error) {
	if uint64(index) >= uint64(len(m.spec.Operands)) {
		return nil, badData("%s: %d: the model has %d operands "+
			"[nnapi-model-operands]", name, index, len(m.spec.Operands))
	}
	return &m.spec.Operands[index], nil
}

func modelAddOperand(m *Model, t *OperandType) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	o, err := t.read()
	if err != nil {
		return refuseFor(BadData, err, "type: operand %d [nnapi-type-operand]", len(m.spec.Operands))
	}
	if o.Type.IsExtension() {
		return badData("type: operand %d: %v: no device has this extension "+
			"[nnapi-type-operand-no]", len(m.spec.Operands), o.Type)
	}
	if len(m.spec.Operands) >= maxList {
		return badData("type: the model has %d operands already [nnapi-type-model-operands]", len(m.spec.Operands))
	}
	m.spec.Operands = append(m.spec.Operands, o)
	return nil
}

// list checks that every element of an index list names an operand, and copies it.
func (m *Model) list(name string, indices []uint32) ([]uint32, error) {
	if len(indices) == 0 {
		return nil, badData("%sCount: 0: want at least 1 [nnapi-count-zero]", name[:len(name)-1])
	}
	// Indices after the true end of a huge count are not read: the first one that names nothing ends the search.
	var out []uint32
	err := guarded(name, func() error {
		for i, index := range indices {
			if uint64(index) >= uint64(len(m.spec.Operands)) {
				return badData("%s[%d]: %d: the model has %d operands "+
					"[nnapi-model-operands-list]", name, i, index, len(m.spec.Operands))
			}
		}
		var err error
		if out, err = mem.Clone(indices); err != nil {
			return fault.Wrap(err, "%s", name)
		}
		return nil
	})
	return out, err
}

// lists checks the inputs and outputs of an operation or of the model.
func (m *Model) lists(inputs, outputs []uint32) (in, out []uint32, err error) {
	if in, err = m.list("inputs", inputs); err != nil {
		return nil, nil, err
	}
	if out, err = m.list("outputs", outputs); err != nil {
		return nil, nil, err
	}
	return in, out, nil
}

// modelAddOperation judges the operation by its signature at the library's feature level. It adds nothing when it
// fails.
func modelAddOperation(m *Model, code OperationType, inputs, outputs []uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	op := nnapi.Operation{Code: nnapi.OperationCode(code)}
	at := len(m.spec.Operations)
	if op.Code.IsExtension() {
		return badData("type: operation %d: %v: no device has this extension [nnapi-type-operation-no]", at, op.Code)
	}
	var err error
	if op.Inputs, op.Outputs, err = m.lists(inputs, outputs); err != nil {
		return refuseFor(BadData, err, "operation %d %v", at, op.Code)
	}
	err = guarded("a constant", func() error { return nnapi.Check(&m.spec, op, settings().level) })
	if err != nil {
		return refuseFor(BadData, err, "operation %d", at)
	}
	if at >= maxList {
		return badData("model: it has %d operations already [nnapi-model-operations-already]", at)
	}
	m.spec.Operations = append(m.spec.Operations, op)
	return nil
}

// modelIdentifyInputsAndOutputs adds to the names of earlier calls, as the reference implementation does.
func modelIdentifyInputsAndOutputs(m *Model, inputs, outputs []uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	in, out, err := m.lists(inputs, outputs)
	if err != nil {
		return err
	}
	seen := map[uint32]string{} // the program's counts say nothing of its size: repeated indices are refused
	for _, l := range []struct {
		name    string
		indices []uint32
	}{{"inputs", in}, {"outputs", out}} {
		for i, index := range l.indices {
			what := seen[index]
			switch m.spec.Operands[index].Lifetime {
			case nnapi.Input:
				what = "a model input already"
			case nnapi.Output:
				what = "a model output already"
			case nnapi.Constant, nnapi.NoValue, nnapi.Subgraph:
				what = "a constant"
			}
			if what != "" {
				return badData("%s[%d]: operand %d is %s [nnapi-operand-lifetime]", l.name, i, index, what)
			}
			seen[index] = "in " + l.name + " already"
		}
	}
	for _, index := range in {
		m.spec.Operands[index].Lifetime = nnapi.Input
	}
	for _, index := range out {
		m.spec.Operands[index].Lifetime = nnapi.Output
	}
	m.spec.Inputs, m.spec.Outputs = append(m.spec.Inputs, in...), append(m.spec.Outputs, out...)
	return nil
}

func modelRelaxComputationFloat32toFloat16(m *Model, allow bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	m.spec.Relaxed = allow
	return nil
}

// modelFinish judges the whole model. A model that fails is invalid for good.
func modelFinish(m *Model) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.finished {
		return badState("model: it is finished already [nnapi-model-finished-already]")
	}
	m.finished = true
	err := m.takeConstants()
	m.endLoans()
	if err == nil {
		err = checkWhole(&m.spec, settings().level)
	}
	if err != nil {
		m.defect = err.Error()
		code := BadData
		if fault.KindOf(err) == fault.Memory {
			code = OutOfMemory
		}
		return refuseFor(code, err, "model")
	}
	return nil
}
