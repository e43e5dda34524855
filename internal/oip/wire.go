package oip

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message: a number, or bytes that are a view of the message.
type field struct {
	num   protowire.Number
	typ   protowire.Type
	value uint64
	bytes []byte
}

// each calls f for the fields of the message in b, in order, and stops at the first error. Groups are skipped.
func each(what string, b []byte, f func(field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%s: damaged field tag: %w", what, protowire.ParseError(n))
		}
		b = b[n:]
		fl := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			fl.value, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			fl.value = uint64(v)
		case protowire.Fixed64Type:
			fl.value, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			fl.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("%s: field %d is damaged: %w", what, num, protowire.ParseError(n))
		}
		if typ != protowire.StartGroupType {
			if err := f(fl); err != nil {
				return err
			}
		}
		b = b[n:]
	}
	return nil
}

func (f field) want(what string, t protowire.Type) error {
	if f.typ != t {
		return fmt.Errorf("%s: field %d has wire type %d, want %d", what, f.num, f.typ, t)
	}
	return nil
}

// text stores a string field.
func (f field) text(what string, dst *string) error {
	if err := f.want(what, protowire.BytesType); err != nil {
		return err
	}
	if len(f.bytes) > MaxText || !utf8.Valid(f.bytes) {
		return fmt.Errorf("%s: field %d is %d bytes, want at most %d of UTF-8", what, f.num, len(f.bytes), MaxText)
	}
	*dst = string(f.bytes)
	return nil
}

// texts appends a string field.
func (f field) texts(what string, dst *[]string) error {
	var s string
	if err := f.text(what, &s); err != nil {
		return err
	}
	if len(*dst) >= MaxTensors {
		return fmt.Errorf("%s: field %d more than %d times", what, f.num, MaxTensors)
	}
	*dst = append(*dst, s)
	return nil
}

// flag stores a bool field.
func (f field) flag(what string, dst *bool) error {
	if err := f.want(what, protowire.VarintType); err != nil {
		return err
	}
	*dst = f.value != 0
	return nil
}

// numbers calls add for each number of a repeated field of numbers, packed or not, at most limit in all.
func (f field) numbers(what string, t protowire.Type, had, limit int, add func(uint64)) error {
	b := f.bytes
	if f.typ == t {
		if had >= limit {
			return fmt.Errorf("%s: more than %d numbers in field %d", what, limit, f.num)
		}
		add(f.value)
		return nil
	}
	if err := f.want(what, protowire.BytesType); err != nil {
		return err
	}
	for ; len(b) > 0; had++ {
		if had >= limit {
			return fmt.Errorf("%s: more than %d numbers in field %d", what, limit, f.num)
		}
		var v uint64
		var n int
		switch t {
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(b)
			v = uint64(w)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		default:
			v, n = protowire.ConsumeVarint(b)
		}
		if n < 0 {
			return fmt.Errorf("%s: field %d is damaged: %w", what, f.num, protowire.ParseError(n))
		}
		add(v)
		b = b[n:]
	}
	return nil
}

// shape appends the sizes of a shape field.
func (f field) shape(what string, dst *[]int64) error {
	return f.numbers(what, protowire.VarintType, len(*dst), MaxRank, func(v uint64) { *dst = append(*dst, int64(v)) })
}

func appendText(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

func appendTexts(b []byte, num protowire.Number, list []string) []byte {
	for _, s := range list {
		b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
	}
	return b
}

func appendFlag(b []byte, num protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), 1)
}

func appendMessage(b []byte, num protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), m)
}

func appendShape(b []byte, num protowire.Number, shape []int64) []byte {
	if len(shape) == 0 {
		return b
	}
	n := 0
	for _, d := range shape {
		n += protowire.SizeVarint(uint64(d))
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.BytesType), uint64(n))
	for _, d := range shape {
		b = protowire.AppendVarint(b, uint64(d))
	}
	return b
}

// appendParameters writes a map of parameters, in the order of their names.
func appendParameters(b []byte, num protowire.Number, p Parameters) []byte {
	if len(p) == 0 {
		return b
	}
	names := make([]string, 0, len(p))
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var v []byte
		switch x := p[name].(type) {
		case bool:
			v = protowire.AppendVarint(protowire.AppendTag(v, 1, protowire.VarintType), protowire.EncodeBool(x))
		case int64:
			v = protowire.AppendVarint(protowire.AppendTag(v, 2, protowire.VarintType), uint64(x))
		case string:
			v = protowire.AppendString(protowire.AppendTag(v, 3, protowire.BytesType), x)
		case float64:
			v = protowire.AppendFixed64(protowire.AppendTag(v, 4, protowire.Fixed64Type), math.Float64bits(x))
		case uint64:
			v = protowire.AppendVarint(protowire.AppendTag(v, 5, protowire.VarintType), x)
		}
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		b = appendMessage(b, num, appendMessage(entry, 2, v))
	}
	return b
}

// parameter reads an entry of a map of parameters. One without a known choice is left out.
func (f field) parameter(what string, dst *Parameters) error {
	if err := f.want(what, protowire.BytesType); err != nil {
		return err
	}
	var name string
	var value any
	err := each(what, f.bytes, func(e field) error {
		switch e.num {
		case 1:
			return e.text(what, &name)
		case 2:
			if err := e.want(what, protowire.BytesType); err != nil {
				return err
			}
			return each(what, e.bytes, func(c field) (err error) {
				switch {
				case c.num == 1 && c.typ == protowire.VarintType:
					value = c.value != 0
				case c.num == 2 && c.typ == protowire.VarintType:
					value = int64(c.value)
				case c.num == 3:
					var s string
					err = c.text(what, &s)
					value = s
				case c.num == 4 && c.typ == protowire.Fixed64Type:
					value = math.Float64frombits(c.value)
				case c.num == 5 && c.typ == protowire.VarintType:
					value = c.value
				}
				return err
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(*dst) >= MaxParameters:
		return fmt.Errorf("%s: more than %d parameters", what, MaxParameters)
	case *dst == nil:
		*dst = Parameters{}
	}
	if value != nil {
		(*dst)[name] = value
	}
	return nil
}
