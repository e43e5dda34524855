// Package models has what a vendor needs to judge his library, which loads no ONNX, by cases that are made of ONNX
// models: what such a model holds, a sheet that tells his converter what to do with it, and which converted file stands
// for it. It reads the files alone, and computes nothing.
package models

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// ONNX is what the suites read of a model.
type ONNX struct {
	Inputs, Outputs []Port
	Operators       []string          // types of the nodes, each once, DOMAIN.TYPE outside of ai.onnx
	Opset           int64             // of ai.onnx, 0 where the file does not say
	Metadata        map[string]string // metadata_props
	External        bool              // weights are in other files
	Quantized       bool              // the model has QuantizeLinear or DequantizeLinear
}

// Port is an input or output.
type Port struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`            // of ONNX, such as float32
	Shape []int64 `json:"shape,omitempty"` // -1: open

	// Open are the names of open dimensions, "" for one of a size or without a name; nil if none is named.
	Open []string `json:"open,omitempty"`
}

// Name is what a model's files are called: the first 16 digits of its SHA-256.
func Name(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum[:8])
}

// names of ONNX's element types by number.
var types = map[int64]string{1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
	8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16"}

// fields calls f with each field of a message: number, and its bytes or its varint.
func fields(b []byte, f func(n protowire.Number, bytes []byte, number int64) error) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var value []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		if err := f(n, value, int64(number)); err != nil {
			return err
		}
	}
	return nil
}

// Read reads a model. An error says that the bytes are none, or not a whole one.
func Read(data []byte) (*ONNX, error) {
	m := &ONNX{Metadata: map[string]string{}}
	graphs := 0
	err := fields(data, func(n protowire.Number, b []byte, _ int64) error {
		switch n {
		case 7:
			graphs++
			return m.graph(b)
		case 8:
			return m.opset(b)
		case 14:
			return m.property(b)
		}
		return nil
	})
	if err == nil && (graphs != 1 || len(m.Outputs) == 0) {
		err = errors.New("want one graph with outputs")
	}
	return m, err
}

func (m *ONNX) opset(b []byte) error {
	domain, version := "", int64(0)
	err := fields(b, func(n protowire.Number, b []byte, v int64) error {
		switch n {
		case 1:
			domain = string(b)
		case 2:
			version = v
		}
		return nil
	})
	if domain == "" || domain == "ai.onnx" {
		m.Opset = version
	}
	return err
}

func (m *ONNX) property(b []byte) error {
	var pair [2]string
	err := fields(b, func(n protowire.Number, b []byte, _ int64) error {
		if n == 1 || n == 2 {
			pair[n-1] = string(b)
		}
		return nil
	})
	m.Metadata[pair[0]] = pair[1]
	return err
}

func (m *ONNX) graph(b []byte) error {
	constants := map[string]bool{}
	err := fields(b, func(n protowire.Number, b []byte, _ int64) error {
		switch n {
		case 1:
			return m.node(b)
		case 5:
			return fields(b, func(n protowire.Number, b []byte, v int64) error {
				switch {
				case n == 8:
					constants[string(b)] = true
				case n == 14 && v == 1:
					m.External = true
				}
				return nil
			})
		case 11, 12:
			p, err := port(b)
			if n == 11 {
				m.Inputs = append(m.Inputs, p)
			} else {
				m.Outputs = append(m.Outputs, p)
			}
			return err
		}
		return nil
	})
	// Old models list constants as inputs, too.
	m.Inputs = slices.DeleteFunc(m.Inputs, func(p Port) bool { return constants[p.Name] })
	return err
}

func (m *ONNX) node(b []byte) error {
	op, domain := "", ""
	err := fields(b, func(n protowire.Number, b []byte, _ int64) error {
		switch n {
		case 4:
			op = string(b)
		case 7:
			domain = string(b)
		}
		return nil
	})
	m.Quantized = m.Quantized || op == "QuantizeLinear" || op == "DequantizeLinear"
	if domain != "" && domain != "ai.onnx" {
		op = domain + "." + op
	}
	if !slices.Contains(m.Operators, op) {
		m.Operators = append(m.Operators, op)
	}
	return err
}

// port reads a ValueInfoProto.
func port(b []byte) (p Port, err error) {
	err = fields(b, func(n protowire.Number, b []byte, _ int64) error {
		switch n {
		case 1:
			p.Name = string(b)
		case 2:
			return fields(b, func(n protowire.Number, b []byte, _ int64) error {
				if n != 1 { // of a sequence and the like
					return nil
				}
				return p.tensor(b)
			})
		}
		return nil
	})
	return p, err
}

// tensor reads a TypeProto.Tensor.
func (p *Port) tensor(b []byte) error {
	return fields(b, func(n protowire.Number, b []byte, v int64) error {
		switch n {
		case 1:
			p.Type = types[v]
		case 2:
			return fields(b, func(_ protowire.Number, b []byte, _ int64) error {
				size, name := int64(-1), ""
				err := fields(b, func(n protowire.Number, b []byte, v int64) error {
					switch n {
					case 1:
						size = v
					case 2:
						name = string(b)
					}
					return nil
				})
				if name != "" && p.Open == nil {
					p.Open = make([]string, len(p.Shape))
				}
				p.Shape = append(p.Shape, size)
				if p.Open != nil {
					p.Open = append(p.Open, name)
				}
				return err
			})
		}
		return nil
	})
}
