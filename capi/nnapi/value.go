package nnapi

import (
	"math"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Values of operands (section 3): constants by copy, by pointer or from memory, no value, scales, and models.

// settable returns operand index if it can be given a value.
func (m *Model) settable(index int32) (*nnapi.Operand, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	o, err := m.operand("index", uint32(index))
	if err != nil {
		return nil, err
	}
	if o.Lifetime == nnapi.Input || o.Lifetime == nnapi.Output {
		return nil, badData("index: operand %d is an input or output of the model and can have no value "+
			"[nnapi-index-operand-input]", index)
	}
	return o, nil
}

// constant checks that length is the size of the operand's value.
func constant(o *nnapi.Operand, index int32, length uint64) error {
	if o.Type == nnapi.ModelOperand {
		return badData("index: operand %d is a MODEL: set it by ANeuralNetworksModel_setOperandValueFromModel "+
			"[nnapi-index-operand-model]", index)
	}
	if !o.Specified() {
		return badData("index: operand %d is %v%v: a constant has all its dimensions "+
			"[nnapi-index-operand-constant]", index, o.Type, o.Dims)
	}
	if o.Type == nnapi.OEMScalar { // a vendor's own: of any size
		if length == 0 {
			return badData("length: 0: want the bytes of operand %d, %v [nnapi-length-bytes-operand]", index, o.Type)
		}
		return nil
	}
	if size, err := o.Size(); err != nil || length != size {
		return badData("length: %d: operand %d, %v%v, takes %d bytes "+
			"[nnapi-length-operand-takes]", length, index, o.Type, o.Dims, size)
	}
	return nil
}

// modelSetOperandValue copies small values at once. Larger ones are the program's until the model is finished.
func modelSetOperandValue(m *Model, index int32, p unsafe.Pointer, length uint64) error {
	if p == nil && length > 0 {
		return null("buffer")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, err := m.settable(index)
	if err != nil {
		return err
	}
	if p == nil {
		m.endLoan(uint32(index))
		o.Lifetime, o.Data, o.Sub = nnapi.NoValue, nil, nil
		return nil
	}
	if err := constant(o, index, length); err != nil {
		return err
	}
	data, err := elements((*byte)(p), length, "buffer")
	if err != nil {
		return err
	}
	m.endLoan(uint32(index))
	if length <= nnapi.CopiedAtOnce {
		data = slices.Clone(data)
	} else {
		m.loans[uint32(index)] = nil
	}
	o.Lifetime, o.Data, o.Sub = nnapi.Constant, data, nil
	return nil
}

// modelSetOperandValueFromMemory copies nothing before the model is finished.
func modelSetOperandValueFromMemory(m *Model, index int32, memory *Memory, offset, length uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, err := m.settable(index)
	if err != nil {
		return err
	}
	if memory.managed != nil {
		return badData("memory: a device manages it: want memory of ANeuralNetworksMemory_createFromFd " +
			"[nnapi-memory-device-manages]")
	}
	if err := constant(o, index, length); err != nil {
		return err
	}
	if err := memory.within(offset, length, reading); err != nil {
		return err
	}
	buf, err := memory.buffer()
	if err != nil {
		return err
	}
	data, err := buf.Map()
	if err != nil {
		buf.Release()
		return refuseFor(Unmappable, err, "memory")
	}
	m.endLoan(uint32(index))
	m.loans[uint32(index)] = buf
	o.Lifetime, o.Data, o.Sub = nnapi.Constant, data[offset:offset+length], nil
	return nil
}

// takeConstants copies the values that are the program's, and makes 1 of every true.
func (m *Model) takeConstants() error {
	for index := range m.loans {
		o := &m.spec.Operands[index]
		if err := mem.Admit(int64(len(o.Data))); err != nil {
			return fault.Wrap(err, "the value of operand %d", index)
		}
		err := guarded("the value", func() error {
			o.Data = slices.Clone(o.Data)
			return nil
		})
		if err != nil {
			o.Data = nil
			return fault.Wrap(err, "operand %d", index)
		}
	}
	for i := range m.spec.Operands {
		if o := &m.spec.Operands[i]; o.Lifetime == nnapi.Constant && (o.Type == nnapi.TensorBool8 || o.Type == nnapi.Bool) {
			normalize(o.Data)
		}
	}
	return nil
}

// modelSetOperandValueFromModel keeps the value alive, whatever the program does with its handle. A model cannot be
// part of itself, as it is not finished while it is built.
func modelSetOperandValueFromModel(m *Model, index int32, value *Model) error {
	if m == value {
		return badState("value: it is the model itself, which is not finished [nnapi-value-model-itself]")
	}
	if err := value.valid("value"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, err := m.settable(index)
	if err != nil {
		return err
	}
	if o.Type != nnapi.ModelOperand {
		return badData("index: operand %d is %v: want MODEL [nnapi-operand-not-model]", index, o.Type)
	}
	o.Lifetime, o.Sub = nnapi.Subgraph, &value.spec
	return nil
}

// modelSetOperandSymmPerChannelQuantParams copies the scales.
func modelSetOperandSymmPerChannelQuantParams(m *Model, index int32, q *ChannelScales) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	o, err := m.operand("index", uint32(index))
	if err != nil {
		return err
	}
	if o.Type != nnapi.TensorQuant8SymmPerChannel {
		return badData("index: operand %d is %v: want TENSOR_QUANT8_SYMM_PER_CHANNEL "+
			"[nnapi-index-operand-tensor]", index, o.Type)
	}
	switch {
	case uint64(q.channelDim) >= uint64(len(o.Dims)):
		return badData("channelDim: %d: operand %d has dimensions %v "+
			"[nnapi-channel-dim-operand]", q.channelDim, index, o.Dims)
	case (q.scales == nil) != (q.scaleCount == 0):
		return badData("scales: %p with scaleCount %d: want NULL exactly when the count is 0 "+
			"[nnapi-scales-scale-count]", q.scales, q.scaleCount)
	case o.Dims[q.channelDim] == 0:
		return badData("channelDim: %d: this dimension of operand %d is open: %v "+
			"[nnapi-channel-dim-dimension]", q.channelDim, index, o.Dims)
	case q.scaleCount != o.Dims[q.channelDim]:
		return badData("scaleCount: %d: dimension %d of operand %d has size %d "+
			"[nnapi-scale-count-dimension]", q.scaleCount, q.channelDim, index,
			o.Dims[q.channelDim])
	}
	given, err := elements(q.scales, uint64(q.scaleCount), "scales")
	if err != nil {
		return err
	}
	scales, err := mem.Clone(given)
	if err != nil {
		return fault.Wrap(err, "scales")
	}
	for i, s := range scales {
		if !(s > 0) || math.IsInf(float64(s), 0) {
			return badData("scales[%d]: %v: want a finite number above 0 [nnapi-scales-finite-number]", i, s)
		}
	}
	o.Channel = &nnapi.PerChannel{Dim: q.channelDim, Scales: scales}
	return nil
}
