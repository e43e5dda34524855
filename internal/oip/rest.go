package oip

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// HeaderLength is the header of a request or response whose body is JSON of that many bytes and binary tensors behind
// it, an extension of the protocol's JSON form.
const HeaderLength = "Inference-Header-Content-Length"

// The parameters of that extension: a tensor's bytes behind the JSON; that an output is wanted so; that all are.
const (
	binarySize   = "binary_data_size"
	BinaryData   = "binary_data"
	BinaryOutput = "binary_data_output"
)

type jsonTensor struct {
	Name       string          `json:"name"`
	Shape      []int64         `json:"shape,omitempty"`
	Datatype   string          `json:"datatype,omitempty"`
	Parameters Parameters      `json:"parameters,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

type jsonInfer struct {
	Model      string       `json:"model_name,omitempty"`
	Version    string       `json:"model_version,omitempty"`
	ID         string       `json:"id,omitempty"`
	Parameters Parameters   `json:"parameters,omitempty"`
	Inputs     []jsonTensor `json:"inputs,omitempty"`
	Outputs    []jsonTensor `json:"outputs,omitempty"`
}

// JSON returns the request's JSON and the tensors that follow it: those with Raw, whose memory is not copied. Model and
// version are not part of it, the path has them. Every input has Raw or is in shared memory.
func (m *Request) JSON() (head []byte, tail [][]byte, err error) {
	j := jsonInfer{ID: m.ID, Parameters: m.Parameters}
	j.Inputs, tail, err = jsonTensors(m.Inputs, func(string) bool { return true })
	if err != nil {
		return nil, nil, err
	}
	for _, o := range m.Outputs {
		j.Outputs = append(j.Outputs, jsonTensor{Name: o.Name, Parameters: o.Parameters})
	}
	head, err = json.Marshal(&j)
	return head, tail, err
}

// JSON returns the response's JSON and the outputs that follow it: those for whose name binary returns true. The others
// are written as numbers; FP16 and BF16 have no such form.
func (m *Response) JSON(binary func(output string) bool) (head []byte, tail [][]byte, err error) {
	j := jsonInfer{Model: m.Model, Version: m.Version, ID: m.ID, Parameters: m.Parameters}
	j.Outputs, tail, err = jsonTensors(m.Outputs, binary)
	if err != nil {
		return nil, nil, err
	}
	if j.Outputs == nil {
		j.Outputs = []jsonTensor{}
	}
	head, err = json.Marshal(&j)
	return head, tail, err
}

func jsonTensors(list []Tensor, binary func(string) bool) (out []jsonTensor, tail [][]byte, err error) {
	for i := range list {
		t := &list[i]
		j := jsonTensor{Name: t.Name, Shape: t.Shape, Datatype: t.Datatype, Parameters: t.Parameters}
		if j.Shape == nil {
			j.Shape = []int64{}
		}
		switch {
		case t.Raw == nil:
		case binary(t.Name):
			j.Parameters = Parameters{binarySize: int64(len(t.Raw))}
			for name, v := range t.Parameters {
				j.Parameters[name] = v
			}
			tail = append(tail, t.Raw)
		default:
			if j.Data, err = numbersOf(t.Datatype, t.Raw); err != nil {
				return nil, nil, fmt.Errorf("tensor %q: %w", t.Name, err)
			}
		}
		out = append(out, j)
	}
	return out, tail, nil
}

// ParseRequestJSON reads a request: JSON in head, binary tensors in tail, whose views become the inputs' Raw. Inputs
// given as numbers get a Raw of their own.
func ParseRequestJSON(head, tail []byte) (*Request, error) {
	j, err := parseInfer(head)
	if err != nil {
		return nil, err
	}
	m := &Request{Model: j.Model, Version: j.Version, ID: j.ID, Parameters: j.Parameters}
	if m.Inputs, err = tensorsOf(j.Inputs, tail); err != nil {
		return nil, err
	}
	for _, o := range j.Outputs {
		m.Outputs = append(m.Outputs, Requested{Name: o.Name, Parameters: o.Parameters})
	}
	return m, nil
}

// ParseResponseJSON reads a response: JSON in head, binary tensors in tail, whose views become the outputs' Raw.
// Outputs given as numbers get a Raw of their own.
func ParseResponseJSON(head, tail []byte) (*Response, error) {
	j, err := parseInfer(head)
	if err != nil {
		return nil, err
	}
	m := &Response{Model: j.Model, Version: j.Version, ID: j.ID, Parameters: j.Parameters}
	m.Outputs, err = tensorsOf(j.Outputs, tail)
	return m, err
}

// ParseResponseHead reads the JSON of a response whose binary tensors are not there yet: sizes has, for each output,
// the bytes that it takes behind the JSON, in that order, -1 for one that is not binary.
func ParseResponseHead(head []byte) (m *Response, sizes []int64, err error) {
	j, err := parseInfer(head)
	if err != nil {
		return nil, nil, err
	}
	for i := range j.Outputs {
		size, binary := j.Outputs[i].Parameters[binarySize].(int64)
		switch {
		case !binary:
			size = -1
		case size < 0:
			return nil, nil, fmt.Errorf("tensor %q: %d binary bytes", j.Outputs[i].Name, size)
		}
		delete(j.Outputs[i].Parameters, binarySize)
		sizes = append(sizes, size)
	}
	m = &Response{Model: j.Model, Version: j.Version, ID: j.ID, Parameters: j.Parameters}
	m.Outputs, err = tensorsOf(j.Outputs, nil)
	return m, sizes, err
}

func parseInfer(head []byte) (*jsonInfer, error) {
	var j jsonInfer
	if err := json.Unmarshal(head, &j); err != nil {
		return nil, fmt.Errorf("infer JSON: %w", err)
	}
	for _, list := range [][]jsonTensor{j.Inputs, j.Outputs} {
		if len(list) > MaxTensors {
			return nil, fmt.Errorf("infer JSON: more than %d tensors", MaxTensors)
		}
		for i := range list {
			if len(list[i].Shape) > MaxRank || len(list[i].Name) > MaxText || len(list[i].Parameters) > MaxParameters {
				return nil, fmt.Errorf("infer JSON: tensor %d is beyond the limits", i)
			}
		}
	}
	return &j, nil
}

// UnmarshalJSON reads parameters: whole numbers become int64 or uint64, others float64.
func (p *Parameters) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil || raw == nil {
		return err
	}
	*p = make(Parameters, len(raw))
	for name, v := range raw {
		s := string(v)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			(*p)[name] = n
		} else if u, err := strconv.ParseUint(s, 10, 64); err == nil {
			(*p)[name] = u
		} else {
			var x any
			if err := json.Unmarshal(v, &x); err != nil {
				return err
			}
			switch x.(type) {
			case bool, float64, string:
				(*p)[name] = x
			}
		}
	}
	return nil
}

func tensorsOf(list []jsonTensor, tail []byte) (out []Tensor, err error) {
	for i := range list {
		j := &list[i]
		t := Tensor{Name: j.Name, Datatype: j.Datatype, Shape: j.Shape, Parameters: j.Parameters}
		size, binary := j.Parameters[binarySize].(int64)
		switch {
		case binary && (size < 0 || size > int64(len(tail))):
			return nil, fmt.Errorf("tensor %q: %d binary bytes where %d are left", j.Name, size, len(tail))
		case binary:
			t.Raw, tail = tail[:size:size], tail[size:]
			delete(t.Parameters, binarySize)
		case j.Data != nil && string(j.Data) != "null":
			if t.Raw, err = rawOf(j.Datatype, j.Data); err != nil {
				return nil, fmt.Errorf("tensor %q: %w", j.Name, err)
			}
		}
		out = append(out, t)
	}
	if len(tail) > 0 {
		return nil, fmt.Errorf("infer JSON: %d bytes behind the last binary tensor", len(tail))
	}
	return out, nil
}

// ErrNoNumbers is the error of a tensor whose datatype has no form in JSON.
var ErrNoNumbers = fmt.Errorf("this datatype has no form in JSON, use binary data")

// special lets floats that JSON has no word for pass as null.
var special = json.RawMessage("null")

func finite(v float64, bits int) json.RawMessage {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return special
	}
	return strconv.AppendFloat(nil, v, 'g', -1, bits)
}

func join(n int, element func(i int) json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, element(i)...)
	}
	return slices.Clip(append(b, ']'))
}
