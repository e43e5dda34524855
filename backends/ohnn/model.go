package ohnn

import (
	"runtime"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// model is a model of the driver's that is being written. Its driver is held by the lane of building.
type model struct {
	driver  Driver
	at      uintptr
	index   map[*operand]uint32
	tensors uint32
	pin     runtime.Pinner
}

// write makes a model of operations.
func (d *Device) write(ops []*operation, in, out []*operand) (m *model, err error) {
	m = &model{driver: d.driver, index: map[*operand]uint32{}}
	defer m.pin.Unpin()
	m.at, err = m.driver.ModelConstruct()
	if err = made("OH_NNModel_Construct", m.at, err); err != nil {
		return nil, err
	}
	if err = m.fill(ops, in, out); err != nil {
		m.destroy()
		return nil, err
	}
	return m, nil
}

func (m *model) fill(ops []*operation, in, out []*operand) error {
	inputs, err := m.operands(in)
	if err != nil {
		return err
	}
	for _, o := range ops {
		if err := m.operation(o); err != nil {
			return fault.Wrap(err, "OH_NN_OPS_%s", o.Name)
		}
	}
	outputs, err := m.operands(out)
	if err != nil {
		return err
	}
	code, err := m.driver.ModelSpecifyInputsAndOutputs(m.at, m.list(inputs), m.list(outputs))
	if err = judged("OH_NNModel_SpecifyInputsAndOutputs", code, err); err != nil {
		return err
	}
	code, err = m.driver.ModelFinish(m.at)
	return judged("OH_NNModel_Finish", code, err)
}

func (m *model) operation(o *operation) error {
	in, err := m.operands(o.in)
	if err != nil {
		return err
	}
	params := make([]uint32, len(o.params))
	for i, p := range o.params {
		typ := tensor.T(p.DataType.DType(), p.dims...)
		if params[i], err = m.tensor(typ, p.Number, p.data); err != nil {
			return fault.Wrap(err, "%v", p.Number)
		}
	}
	out, err := m.operands(o.out)
	if err != nil {
		return err
	}
	code, err := m.driver.ModelAddOperation(m.at, uint32(o.Op), m.list(params), m.list(in), m.list(out))
	return judged("OH_NNModel_AddOperation", code, err)
}

// operands returns the numbers of tensors, and makes those that are new.
func (m *model) operands(list []*operand) ([]uint32, error) {
	out := make([]uint32, len(list))
	for i, o := range list {
		at, known := m.index[o]
		if !known {
			var err error
			if at, err = m.tensor(o.typ, spec.DataTensor, o.data); err != nil {
				return nil, fault.Wrap(err, "a tensor %v", o.typ)
			}
			m.index[o] = at
		}
		out[i] = at
	}
	return out, nil
}

// list is an OH_NN_UInt32Array, which stays where it is until the model is written.
func (m *model) list(v []uint32) unsafe.Pointer {
	a := &uint32Array{}
	if len(v) > 0 {
		a.data, a.size = &v[0], uint32(len(v))
		m.pin.Pin(a.data)
	}
	m.pin.Pin(a)
	return unsafe.Pointer(a)
}

// tensor adds a tensor.
func (m *model) tensor(typ tensor.Type, role spec.TensorType, data []byte) (uint32, error) {
	desc, err := m.driver.describe(typ)
	if err != nil {
		return 0, err
	}
	code, err := m.driver.ModelAddTensorToModel(m.at, desc)
	m.driver.forget(desc)
	if err = judged("OH_NNModel_AddTensorToModel", code, err); err != nil {
		return 0, err
	}
	at := m.tensors
	m.tensors++
	code, err = m.driver.ModelSetTensorType(m.at, at, uint32(role))
	if err = judged("OH_NNModel_SetTensorType", code, err); err != nil {
		return 0, err
	}
	if typ.Quant != nil {
		if err := m.quantize(at, typ.Quant); err != nil {
			return 0, err
		}
	}
	if len(data) > 0 {
		code, err := m.driver.ModelSetTensorData(m.at, at, unsafe.Pointer(&data[0]), uint64(len(data)))
		if err = judged("OH_NNModel_SetTensorData", code, err); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// quantize gives a tensor its scales and zero points.
func (m *model) quantize(at uint32, q *tensor.Quant) error {
	p, err := m.driver.QuantParamCreate()
	if err = made("OH_NNQuantParam_Create", p, err); err != nil {
		return err
	}
	defer func() { _, _ = m.driver.QuantParamDestroy(unsafe.Pointer(&p)) }() // nothing is left to do with an error
	n := uint64(len(q.Scale))
	scales, zeros, bits := make([]float64, n), make([]int32, n), make([]uint32, n)
	for i, s := range q.Scale {
		scales[i], zeros[i], bits[i] = float64(s), q.ZeroAt(i), 8
	}
	code, err := m.driver.QuantParamSetScales(p, unsafe.Pointer(&scales[0]), n)
	if err = judged("OH_NNQuantParam_SetScales", code, err); err != nil {
		return err
	}
	code, err = m.driver.QuantParamSetZeroPoints(p, unsafe.Pointer(&zeros[0]), n)
	if err = judged("OH_NNQuantParam_SetZeroPoints", code, err); err != nil {
		return err
	}
	code, err = m.driver.QuantParamSetNumBits(p, unsafe.Pointer(&bits[0]), n)
	if err = judged("OH_NNQuantParam_SetNumBits", code, err); err != nil {
		return err
	}
	code, err = m.driver.ModelSetTensorQuantParams(m.at, at, p)
	return judged("OH_NNModel_SetTensorQuantParams", code, err)
}

// destroy ends the model; compilations of it live on.
func (m *model) destroy() {
	_ = m.driver.ModelDestroy(unsafe.Pointer(&m.at)) // nothing is left to do with an error
}

// describe makes a description of a type, which ends with forget.
func (d Driver) describe(typ tensor.Type) (uintptr, error) {
	desc, err := d.TensorDescCreate()
	if err = made("OH_NNTensorDesc_Create", desc, err); err != nil {
		return 0, err
	}
	code, err := d.TensorDescSetDataType(desc, uint32(spec.DataTypeOf(typ.DType)))
	err = judged("OH_NNTensorDesc_SetDataType", code, err)
	if err == nil {
		code, err = d.TensorDescSetFormat(desc, formatNHWC)
		err = judged("OH_NNTensorDesc_SetFormat", code, err)
	}
	if sizes, _ := typ.Shape.Ints(); err == nil && len(sizes) > 0 {
		dims := make([]int32, len(sizes))
		for i, s := range sizes {
			dims[i] = int32(s)
		}
		code, err = d.TensorDescSetShape(desc, unsafe.Pointer(&dims[0]), uint64(len(dims)))
		err = judged("OH_NNTensorDesc_SetShape", code, err)
	}
	if err != nil {
		d.forget(desc)
		return 0, err
	}
	return desc, nil
}

// forget ends a description.
func (d Driver) forget(desc uintptr) {
	_, _ = d.TensorDescDestroy(unsafe.Pointer(&desc)) // nothing is left to do with an error
}
