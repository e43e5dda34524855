package hbucp

import (
	"github.com/anynpu/anynpu/capi/anynpu"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/tensor"
)

func dnnGetInputCount(count *int32, m *Model) error {
	*count = int32(len(m.in))
	return nil
}

func dnnGetOutputCount(count *int32, m *Model) error {
	*count = int32(len(m.out))
	return nil
}

// pick returns the port of an index; name names the argument.
func pick(list []*port, index int32, name string) (*port, error) {
	if index < 0 || int(index) >= len(list) {
		return nil, hb.Invalid("%s is %d: the model has %d, whose indices begin at 0 "+
			"[hbucp-model-indices-begin]", name, index, len(list))
	}
	return list[index], nil
}

func dnnGetInputName(name *uintptr, m *Model, index int32) error {
	return m.portName(name, m.in, index, "inputIndex")
}

func dnnGetOutputName(name *uintptr, m *Model, index int32) error {
	return m.portName(name, m.out, index, "outputIndex")
}

func (m *Model) portName(to *uintptr, list []*port, index int32, argument string) error {
	*to = 0
	p, err := pick(list, index, argument)
	if err == nil {
		*to = m.Text(p.name)
	}
	return err
}

func dnnGetInputTensorProperties(to *TensorProperties, m *Model, index int32) error {
	return describe(to, m.in, index, "inputIndex")
}

func dnnGetOutputTensorProperties(to *TensorProperties, m *Model, index int32) error {
	if err := describe(to, m.out, index, "outputIndex"); err != nil {
		return err
	}
	if p := m.out[index]; p.element == tensor.Float32 && p.quant == quantNone {
		api.WantsCodes(p.Port, p.dims, p.shape)
	}
	return nil
}

func describe(to *TensorProperties, list []*port, index int32, argument string) error {
	p, err := pick(list, index, argument)
	if err == nil {
		p.store(to, nil)
	}
	return err
}

// dnnGetInputDesc gives an empty text: the API has one for each port, and programs demand that the call succeeds.
func dnnGetInputDesc(desc *uintptr, size *uint32, kind *int32, m *Model, index int32) error {
	return portDesc(desc, size, kind, m.in, index, "inputIndex")
}

// dnnGetOutputDesc gives an empty text.
func dnnGetOutputDesc(desc *uintptr, size *uint32, kind *int32, m *Model, index int32) error {
	return portDesc(desc, size, kind, m.out, index, "outputIndex")
}

func portDesc(desc *uintptr, size *uint32, kind *int32, list []*port, index int32, argument string) error {
	if _, err := pick(list, index, argument); err != nil {
		return err
	}
	*desc, *size, *kind = hb.Forever(""), 0, descString
	return nil
}

// dnnGetModelDesc gives the text anynpu.custom_string of the metadata, an empty object of JSON without one.
func dnnGetModelDesc(desc *uintptr, size *uint32, kind *int32, m *Model) error {
	*desc, *size, *kind = m.Text(m.desc), uint32(len(m.desc)), descString
	return nil
}

// dnnGetCompileBpuCoreNum gives 1: no model is made for several cores.
func dnnGetCompileBpuCoreNum(cores *int32, _ *Model) error {
	*cores = 1
	return nil
}

const version = "3.13.6"

func ucpGetVersion() (uintptr, error) { return hb.Forever(version), nil }

func dnnGetVersion() (uintptr, error) {
	return hb.Forever(version + "_(AnyNPU " + anynpu.Version + ")"), nil
}

// ucpGetSocName names the chip, in which programs search for the alignment of strides.
func ucpGetSocName() (uintptr, error) { return hb.Forever(aimed().soc), nil }
