package hbdnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
)

func dnnGetInputCount(count *int32, m *Model) error {
	*count = int32(len(m.in))
	return nil
}

func dnnGetOutputCount(count *int32, m *Model) error {
	*count = int32(len(m.out))
	return nil
}

// pick returns the port of an index; name is the argument's name.
func pick(list []*port, index int32, name string) (*port, error) {
	if index < 0 || int(index) >= len(list) {
		return nil, invalid("%s is %d: the model has %d, whose indices begin at 0 "+
			"[hbdnn-model-indices-begin]", name, index, len(list))
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
		*to = m.Text(p.Name)
	}
	return err
}

func dnnGetInputTensorProperties(to *TensorProperties, m *Model, index int32) error {
	err := describe(to, m.in, index, "inputIndex")
	if err == nil && index == 0 {
		m.in[0].wantsNV12()
	}
	return err
}

func dnnGetOutputTensorProperties(to *TensorProperties, m *Model, index int32) error {
	err := describe(to, m.out, index, "outputIndex")
	if err != nil {
		return err
	}
	if p := m.out[index]; p.kind == typeF32 && p.quant == quantNone {
		api.WantsCodes(p.Port, p.dims, p.valid)
	}
	return nil
}

func describe(to *TensorProperties, list []*port, index int32, argument string) error {
	p, err := pick(list, index, argument)
	if err == nil {
		served().store(to, &p.description)
	}
	return err
}

// dnnGetInputSource says from where an input comes as the metadata have it, memory if they do not say.
func dnnGetInputSource(source *int32, m *Model, index int32) error {
	p, err := pick(m.in, index, "inputIndex")
	if err != nil {
		return err
	}
	*source = sourceDDR
	if p.Image != nil {
		*source = map[string]int32{"resizer": sourceResizer, "pyramid": sourcePyramid}[p.Image.Source]
	}
	return nil
}

// dnnGetOutputOperatorType says what kind of operator makes an output: a convolution, an argmax, or another.
func dnnGetOutputOperatorType(kind *int32, m *Model, index int32) error {
	if _, err := pick(m.out, index, "outputIndex"); err != nil {
		return err
	}
	*kind = m.operators[index]
	return nil
}

func dnnGetInputDesc(desc, size, kind unsafe.Pointer, h uintptr, index int32) error {
	return portDesc(desc, size, kind, h, index, true)
}

func dnnGetOutputDesc(desc, size, kind unsafe.Pointer, h uintptr, index int32) error {
	return portDesc(desc, size, kind, h, index, false)
}

// portDesc describes a port in a sentence. Programs up to 1.9 pass no size and kind: their second argument is the
// handle, whose value no address of a program can have, and their third the index.
func portDesc(descAt, size, kind unsafe.Pointer, h uintptr, index int32, input bool) error {
	base, span, _ := handle.Window()
	older := uintptr(size)-base < span
	if older {
		h, index = uintptr(size), int32(uintptr(kind))
	}
	m, err := holdModel(h)
	if err != nil {
		return err
	}
	defer handle.Unhold(h)
	if descAt == nil {
		return invalid("desc is NULL: want where the address of the text goes [hbdnn-desc-null-address]")
	}
	if err := boundary.CheckRange(descAt, 8); err != nil {
		return fault.Wrap(err, "desc")
	}
	desc := (*uintptr)(descAt)
	*desc = 0
	list, argument := m.out, "outputIndex"
	if input {
		list, argument = m.in, "inputIndex"
	}
	if !older {
		if size == nil {
			return invalid("size is NULL: want where the bytes of the text go [hbdnn-size-null-bytes]")
		}
		if kind == nil {
			return invalid("type is NULL: want where the kind of text goes [hbdnn-type-null-kind]")
		}
		for _, p := range []unsafe.Pointer{size, kind} {
			if err := boundary.CheckRange(p, 4); err != nil {
				return err
			}
		}
		*(*uint32)(size), *(*int32)(kind) = 0, 0
	}
	p, err := pick(list, index, argument)
	if err != nil {
		return err
	}
	*desc = m.Text(p.source)
	if !older {
		*(*uint32)(size), *(*int32)(kind) = uint32(len(p.source)), descString
	}
	return nil
}

// holdModel returns the model of a handle, held until handle.Unhold.
func holdModel(h uintptr) (*Model, error) {
	if h == 0 {
		return nil, (*Model)(nil).BadHandle(fault.Wrap(handle.ErrNull, "dnnHandle"))
	}
	m, err := handle.Hold[Model](h)
	if err != nil {
		return nil, m.BadHandle(fault.Wrap(err, "dnnHandle: %#x", h))
	}
	return m, nil
}

// dnnGetModelDesc gives the text anynpu.custom_string of the metadata.
func dnnGetModelDesc(desc *uintptr, size *uint32, kind *int32, m *Model) error {
	since("hbDNNGetModelDesc", "1.12")
	*desc, *size, *kind = m.Text(m.desc), uint32(len(m.desc)), descString
	return nil
}

// dnnGetModelTag gives the board that the metadata name, an empty text if they name none.
func dnnGetModelTag(tag *uintptr, m *Model) error {
	*tag = m.Text(m.tag)
	return nil
}

// dnnGetEstimateLatency gives the time of a run.
func dnnGetEstimateLatency(latency *int32, m *Model) error {
	*latency = clamped(m.Latency())
	return nil
}

func clamped(us int64) int32 { return int32(min(us, 1<<31-1)) }

// dnnGetLayoutName gives the name of a layout without its prefix.
func dnnGetLayoutName(name *uintptr, layout int32) error {
	*name = 0
	text := layoutName(layout)
	if text == "unknown" {
		return invalid("layout is %d: want NHWC (0), NHCW_NATIVE (1), NCHW (2) or NONE (255) "+
			"[hbdnn-layout-nhwc-nhcw]", layout)
	}
	*name = hb.Forever(text)
	return nil
}

// dnnGetErrorDesc says what a code means, also one of a memory function.
func dnnGetErrorDesc(code int32) (uintptr, error) {
	since("hbDNNGetErrorDesc", "1.23")
	s, ok := descriptions[Code(code)]
	if !ok {
		s = "unknown error"
	}
	return hb.Forever(s), nil
}

// dnnGetVersion is the version of the API that the program is served.
func dnnGetVersion() (uintptr, error) { return hb.Forever(served().version), nil }
