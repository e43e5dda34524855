package metadata

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Codes are the integers that programs see of an output of real numbers.
type Codes struct {
	Type  tensor.DType
	Scale []float32 // one, or one for each index of an axis; nil: nothing is said
	Axis  *int      // of the dimensions that programs see, nil: the last one
}

// codes is how they are written.
type codes struct {
	Type  string          `json:"type"`
	Scale json.RawMessage `json:"scale,omitempty"`
	Axis  *int            `json:"axis,omitempty"`
}

// codeTypes are the types that codes of outputs can have.
var codeTypes = map[string]tensor.DType{"int8": tensor.Int8, "int16": tensor.Int16, "int32": tensor.Int32}

// setOutput reads an entry about an output.
func (m *Metadata) setOutput(name, field string, value json.RawMessage) error {
	out := m.Outputs[name]
	var err error
	switch field {
	case "max_shape":
		if err = decode(value, &out.MaxShape); err == nil && out.MaxShape != nil {
			err = checkShapes([][]int64{out.MaxShape})
		}
	case "codes":
		err = codesOf(value, &out.Codes)
	case "layout":
		err = oneOf(value, &out.Layout, "nchw", "nhwc")
	case "native":
		err = oneOf(value, &out.Native, "nchw", "nhwc")
	}
	if m.Outputs == nil {
		m.Outputs = map[string]Output{}
	}
	m.Outputs[name] = out
	return err
}

// codesOf reads codes, or the name of their type alone.
func codesOf(value json.RawMessage, to **Codes) error {
	var c codes
	if json.Unmarshal(value, &c.Type) != nil {
		d := json.NewDecoder(bytes.NewReader(value))
		d.DisallowUnknownFields()
		if d.Decode(&c) != nil {
			return fault.New(fault.File, "want %s", wanted(&c))
		}
	}
	out := &Codes{Type: codeTypes[c.Type], Axis: c.Axis}
	if out.Type == tensor.Invalid {
		return fault.New(fault.File, "type %q: want %s", c.Type, wanted(&c))
	}
	if c.Scale != nil {
		var err error
		if out.Scale, err = perChannel(c.Scale); err != nil {
			return err
		}
	}
	for _, s := range out.Scale {
		if !(s > 0) || math.IsInf(float64(s), 0) {
			return fault.New(fault.File, "a scale of %g", s)
		}
	}
	*to = out
	return nil
}
