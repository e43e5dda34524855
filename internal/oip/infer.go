package oip

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields in which requests and responses differ.
const (
	requestRaw  protowire.Number = 7
	responseRaw protowire.Number = 6
)

// Parts returns the message as slices to be written one after the other, and their size. The raw contents are the
// tensors' own memory, not copied; either all tensors have Raw or none.
func (m *Request) Parts() (parts [][]byte, size int) {
	b := appendHead(nil, m.Model, m.Version, m.ID, m.Parameters)
	b = appendTensors(b, m.Inputs)
	for _, o := range m.Outputs {
		b = appendMessage(b, 6, appendParameters(appendText(nil, 1, o.Name), 2, o.Parameters))
	}
	return rawParts(b, requestRaw, m.Inputs)
}

// Parts returns the message as slices to be written one after the other, and their size. The raw contents are the
// tensors' own memory, not copied; either all tensors have Raw or none.
func (m *Response) Parts() (parts [][]byte, size int) {
	b := appendHead(nil, m.Model, m.Version, m.ID, m.Parameters)
	return rawParts(appendTensors(b, m.Outputs), responseRaw, m.Outputs)
}

func appendHead(b []byte, model, version, id string, p Parameters) []byte {
	return appendParameters(appendText(appendText(appendText(b, 1, model), 2, version), 3, id), 4, p)
}

func appendTensors(b []byte, list []Tensor) []byte {
	for i := range list {
		t := &list[i]
		m := appendShape(appendText(appendText(nil, 1, t.Name), 2, t.Datatype), 3, t.Shape)
		m = appendParameters(m, 4, t.Parameters)
		if t.Raw == nil && t.Contents != nil {
			m = appendMessage(m, 5, t.Contents.appendTo(nil))
		}
		b = appendMessage(b, 5, m)
	}
	return b
}

// rawParts returns head and after it, as fields of number num, the raw contents of the tensors.
func rawParts(head []byte, num protowire.Number, list []Tensor) (parts [][]byte, size int) {
	from := 0
	for i := range list {
		raw := list[i].Raw
		if raw == nil {
			continue
		}
		head = protowire.AppendVarint(protowire.AppendTag(head, num, protowire.BytesType), uint64(len(raw)))
		parts = append(parts, nil, raw) // head moves while it grows: its pieces are cut below
		size += len(raw)
	}
	size += len(head)
	if len(parts) == 0 {
		return [][]byte{head}, size
	}
	// the pieces of head lie one after the other: each ends behind its raw contents' length
	end := len(head)
	for i := len(parts) - 2; i > 0; i -= 2 {
		n := protowire.SizeTag(num) + protowire.SizeVarint(uint64(len(parts[i+1])))
		parts[i] = head[end-n : end]
		end -= n
	}
	parts[0] = head[from:end]
	return parts, size
}

// ParseRequest reads a request; raw contents are views of b and lie in the inputs.
func ParseRequest(b []byte) (*Request, error) {
	m := &Request{}
	var raw [][]byte
	err := each("infer request", b, func(f field) error {
		if f.num == requestRaw {
			return f.raw("infer request", &raw)
		}
		return m.field(f)
	})
	if err != nil {
		return nil, err
	}
	return m, spread("infer request", m.Inputs, raw)
}

// ParseResponse reads a response; raw contents are views of b and lie in the outputs.
func ParseResponse(b []byte) (*Response, error) {
	m := &Response{}
	var raw [][]byte
	err := each("infer response", b, func(f field) error {
		if f.num == responseRaw {
			return f.raw("infer response", &raw)
		}
		return m.field(f)
	})
	if err != nil {
		return nil, err
	}
	return m, spread("infer response", m.Outputs, raw)
}

// field reads a field other than raw contents.
func (m *Request) field(f field) error {
	const what = "infer request"
	switch f.num {
	case 1:
		return f.text(what, &m.Model)
	case 2:
		return f.text(what, &m.Version)
	case 3:
		return f.text(what, &m.ID)
	case 4:
		return f.parameter(what, &m.Parameters)
	case 5:
		return f.tensor(what, &m.Inputs)
	case 6:
		if err := f.want(what, protowire.BytesType); err != nil {
			return err
		}
		if len(m.Outputs) >= MaxTensors {
			return fmt.Errorf("%s: more than %d outputs", what, MaxTensors)
		}
		var o Requested
		err := each(what, f.bytes, func(f field) error {
			switch f.num {
			case 1:
				return f.text(what, &o.Name)
			case 2:
				return f.parameter(what, &o.Parameters)
			}
			return nil
		})
		m.Outputs = append(m.Outputs, o)
		return err
	}
	return nil
}

// field reads a field other than raw contents.
func (m *Response) field(f field) error {
	const what = "infer response"
	switch f.num {
	case 1:
		return f.text(what, &m.Model)
	case 2:
		return f.text(what, &m.Version)
	case 3:
		return f.text(what, &m.ID)
	case 4:
		return f.parameter(what, &m.Parameters)
	case 5:
		return f.tensor(what, &m.Outputs)
	}
	return nil
}

// tensor appends a tensor.
func (f field) tensor(what string, dst *[]Tensor) error {
	if err := f.want(what, protowire.BytesType); err != nil {
		return err
	}
	if len(*dst) >= MaxTensors {
		return fmt.Errorf("%s: more than %d tensors", what, MaxTensors)
	}
	var t Tensor
	err := each(what, f.bytes, func(f field) error {
		switch f.num {
		case 1:
			return f.text(what, &t.Name)
		case 2:
			return f.text(what, &t.Datatype)
		case 3:
			return f.shape(what, &t.Shape)
		case 4:
			return f.parameter(what, &t.Parameters)
		case 5:
			if err := f.want(what, protowire.BytesType); err != nil {
				return err
			}
			if t.Contents == nil {
				t.Contents = &Contents{}
			}
			return t.Contents.parse(what, f.bytes)
		}
		return nil
	})
	*dst = append(*dst, t)
	return err
}

func (f field) raw(what string, dst *[][]byte) error {
	if err := f.want(what, protowire.BytesType); err != nil {
		return err
	}
	if len(*dst) >= MaxTensors {
		return fmt.Errorf("%s: more than %d raw contents", what, MaxTensors)
	}
	*dst = append(*dst, f.bytes)
	return nil
}

// spread gives the tensors their raw contents: all have them, or those without a place in shared memory, or none.
func spread(what string, list []Tensor, raw [][]byte) error {
	if len(raw) == 0 {
		return nil
	}
	n := 0
	for i := range list {
		if _, elsewhere := list[i].Parameters[SharedMemoryRegion]; elsewhere && len(raw) != len(list) {
			continue
		}
		if n < len(raw) {
			list[i].Raw = raw[n]
			if list[i].Raw == nil {
				list[i].Raw = []byte{}
			}
		}
		n++
	}
	if n != len(raw) {
		return fmt.Errorf("%s: %d raw contents for %d tensors", what, len(raw), n)
	}
	return nil
}

// The parameters of a tensor in system shared memory, an extension: region's name, bytes, and where they begin.
const (
	SharedMemoryRegion   = "shared_memory_region"
	SharedMemoryByteSize = "shared_memory_byte_size"
	SharedMemoryOffset   = "shared_memory_offset"
)
