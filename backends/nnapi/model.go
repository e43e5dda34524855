package nnapi

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// model is a model of the driver's. Compilations read it as long as they live, and the driver reads constants of more
// than spec.CopiedAtOnce bytes where they are, so that it ends after them.
type model struct {
	driver    Driver
	at        uintptr
	constants *constants // nil: they are where the model was described
	parts     []*model   // to which operands refer
	pin       runtime.Pinner
}

// constants holds the constants of a model that are not copied at once, in one piece of memory.
type constants struct {
	buf    mem.Buffer
	at     []int64 // by operand, where it begins; of the others -1
	memory uintptr // of the driver's, 0: it reads them by their addresses
}

// constantAlign is where constants begin in a file.
const constantAlign = 64

// gather copies the large constants of a model; nil if there are none.
func (d *Device) gather(m *spec.Model) (*constants, error) {
	c, size := &constants{}, int64(0)
	for i := range m.Operands {
		at := int64(-1)
		if n := int64(len(m.Operands[i].Data)); n > spec.CopiedAtOnce {
			at = size
			size += (n + constantAlign - 1) &^ (constantAlign - 1)
		}
		c.at = append(c.at, at)
	}
	if size == 0 {
		return nil, nil
	}
	var err error
	if c.buf, err = mem.Memfd(size, mem.Options{Name: "anynpu-constants"}); err != nil {
		return nil, err
	}
	for i, at := range c.at {
		if at < 0 {
			continue
		}
		if err := mem.Write(c.buf, at, m.Operands[i].Data); err != nil {
			c.buf.Release()
			return nil, err
		}
	}
	c.memory = d.share(c.buf, size, unix.PROT_READ)
	return c, nil
}

// share has the driver map the beginning of a buffer's file, 0 when it does not.
func (d *Device) share(b mem.Buffer, size int64, protect int32) (memory uintptr) {
	fd, base, ok := b.FD()
	if !ok || !d.driver.Has("ANeuralNetworksMemory_createFromFd") || !d.driver.Has("ANeuralNetworksMemory_free") {
		return 0
	}
	code, err := d.driver.MemoryCreateFromFd(uint64(base+size), protect, int32(fd), 0, unsafe.Pointer(&memory))
	if err != nil || code != int32(spec.NoError) {
		return 0
	}
	return memory
}

// unshare ends what share has made; the driver is asked only while it can be called.
func (d *Device) unshare(memory uintptr) {
	if d.Life.Alive() == nil {
		_ = d.driver.MemoryFree(memory) // nothing is left to do with an error
	}
}

// free ends the constants.
func (c *constants) free(d *Device) {
	if c == nil {
		return
	}
	if c.memory != 0 {
		d.unshare(c.memory)
	}
	c.buf.Release()
}

// write makes a model. One that is kept has its large constants copied; of any other the driver reads them from s.
func (d *Device) write(s *spec.Model, kept bool) (m *model, err error) {
	m = &model{driver: d.driver}
	code, err := m.driver.ModelCreate(unsafe.Pointer(&m.at))
	if err = made("ANeuralNetworksModel_create", code, err, m.at); err != nil {
		return nil, err
	}
	if kept {
		m.constants, err = d.gather(s)
	}
	if err == nil {
		err = m.fill(d, s, kept)
	}
	if err != nil {
		m.destroy(d)
		return nil, err
	}
	return m, nil
}

func (m *model) fill(d *Device, s *spec.Model, kept bool) error {
	for i := range s.Operands {
		err := m.operand(int32(i), &s.Operands[i])
		if err == nil && s.Operands[i].Sub != nil {
			err = m.part(d, int32(i), s.Operands[i].Sub, kept)
		}
		if err != nil {
			return fault.Wrap(err, "%v of sizes %v", s.Operands[i].Type, s.Operands[i].Dims)
		}
	}
	for _, op := range s.Operations {
		code, err := m.driver.ModelAddOperation(m.at, int32(op.Code), uint32(len(op.Inputs)), m.list(op.Inputs),
			uint32(len(op.Outputs)), m.list(op.Outputs))
		if err = judged("ANeuralNetworksModel_addOperation", code, err); err != nil {
			return fault.Wrap(err, "%v", op.Code)
		}
	}
	code, err := m.driver.ModelIdentifyInputsAndOutputs(m.at, uint32(len(s.Inputs)), m.list(s.Inputs),
		uint32(len(s.Outputs)), m.list(s.Outputs))
	if err = judged("ANeuralNetworksModel_identifyInputsAndOutputs", code, err); err != nil {
		return err
	}
	if s.Relaxed && m.driver.Has("ANeuralNetworksModel_relaxComputationFloat32toFloat16") {
		code, err = m.driver.ModelRelaxComputationFloat32toFloat16(m.at, true)
		if err = judged("ANeuralNetworksModel_relaxComputationFloat32toFloat16", code, err); err != nil {
			return err
		}
	}
	code, err = m.driver.ModelFinish(m.at)
	return judged("ANeuralNetworksModel_finish", code, err)
}

// part makes a model that an operand refers to.
func (m *model) part(d *Device, index int32, s *spec.Model, kept bool) error {
	sub, err := d.write(s, kept)
	if err != nil {
		return err
	}
	m.parts = append(m.parts, sub)
	code, err := m.driver.ModelSetOperandValueFromModel(m.at, index, sub.at)
	return judged("ANeuralNetworksModel_setOperandValueFromModel", code, err)
}

// list is an array of numbers, which stays where it is as long as the model.
func (m *model) list(v []uint32) unsafe.Pointer {
	if len(v) == 0 {
		return nil
	}
	m.pin.Pin(&v[0])
	return unsafe.Pointer(&v[0])
}

// operand adds an operand, its scales and its value.
func (m *model) operand(index int32, o *spec.Operand) error {
	typ := &operandType{int32(o.Type), uint32(len(o.Dims)), (*uint32)(m.list(o.Dims)), o.Scale, o.ZeroPoint}
	code, err := m.driver.ModelAddOperand(m.at, unsafe.Pointer(typ))
	if err = judged("ANeuralNetworksModel_addOperand", code, err); err != nil {
		return err
	}
	if c := o.Channel; c != nil {
		m.pin.Pin(&c.Scales[0])
		scales := &channelScales{c.Dim, uint32(len(c.Scales)), &c.Scales[0]}
		code, err = m.driver.ModelSetOperandSymmPerChannelQuantParams(m.at, index, unsafe.Pointer(scales))
		if err = judged("ANeuralNetworksModel_setOperandSymmPerChannelQuantParams", code, err); err != nil {
			return err
		}
	}
	switch o.Lifetime {
	case spec.Constant:
	case spec.NoValue:
		code, err = m.driver.ModelSetOperandValue(m.at, index, nil, 0)
		return judged("ANeuralNetworksModel_setOperandValue", code, err)
	default:
		return nil
	}
	at, n := unsafe.Pointer(&o.Data[0]), uint64(len(o.Data))
	if c := m.constants; c != nil && c.at[index] >= 0 {
		if c.memory != 0 && m.driver.Has("ANeuralNetworksModel_setOperandValueFromMemory") {
			_, base, _ := c.buf.FD()
			code, err = m.driver.ModelSetOperandValueFromMemory(m.at, index, c.memory, uint64(base+c.at[index]), n)
			return judged("ANeuralNetworksModel_setOperandValueFromMemory", code, err)
		}
		data, err := c.buf.Map()
		if err != nil {
			return err
		}
		at = unsafe.Pointer(&data[c.at[index]])
	}
	code, err = m.driver.ModelSetOperandValue(m.at, index, at, n)
	return judged("ANeuralNetworksModel_setOperandValue", code, err)
}

// destroy ends the model; the driver is asked only while it can be called.
func (m *model) destroy(d *Device) {
	if d.Life.Alive() == nil {
		_ = m.driver.ModelFree(m.at) // nothing is left to do with an error
	}
	for _, p := range m.parts {
		p.destroy(d)
	}
	m.constants.free(d)
	m.pin.Unpin()
}
