package oip

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/anynpu/anynpu/core/tensor"
)

// numbersOf returns raw contents as a flat JSON array: bools, numbers, or for Bytes strings.
func numbersOf(datatype string, raw []byte) (json.RawMessage, error) {
	le := binary.LittleEndian
	if datatype == Bytes {
		return stringsOf(raw)
	}
	d, ok := DType(datatype)
	if !ok || d == tensor.Float16 || d == tensor.BFloat16 {
		return nil, fmt.Errorf("datatype %q: %w", datatype, ErrNoNumbers)
	}
	size := d.Bits() / 8
	if len(raw)%size != 0 {
		return nil, fmt.Errorf("%d bytes of %s", len(raw), datatype)
	}
	return join(len(raw)/size, func(i int) json.RawMessage {
		b := raw[i*size:]
		var v uint64
		switch size {
		case 1:
			v = uint64(b[0])
		case 2:
			v = uint64(le.Uint16(b))
		case 4:
			v = uint64(le.Uint32(b))
		default:
			v = le.Uint64(b)
		}
		switch {
		case d == tensor.Bool:
			return strconv.AppendBool(nil, v != 0)
		case d == tensor.Float32:
			return finite(float64(math.Float32frombits(uint32(v))), 32)
		case d == tensor.Float64:
			return finite(math.Float64frombits(v), 64)
		case d.IsSigned():
			shift := 64 - d.Bits()
			return strconv.AppendInt(nil, int64(v<<shift)>>shift, 10)
		}
		return strconv.AppendUint(nil, v, 10)
	}), nil
}

// stringsOf returns the elements of a raw tensor of Bytes as JSON strings.
func stringsOf(raw []byte) (json.RawMessage, error) {
	var list []json.RawMessage
	for len(raw) > 0 {
		if len(raw) < 4 || uint64(binary.LittleEndian.Uint32(raw)) > uint64(len(raw)-4) {
			return nil, errors.New("damaged elements of BYTES")
		}
		n := binary.LittleEndian.Uint32(raw)
		s, err := json.Marshal(string(raw[4 : 4+n]))
		if err != nil {
			return nil, err
		}
		list, raw = append(list, s), raw[4+n:]
	}
	return join(len(list), func(i int) json.RawMessage { return list[i] }), nil
}

// rawOf returns the elements of a JSON array, flat or nested, as raw contents.
func rawOf(datatype string, data json.RawMessage) ([]byte, error) {
	d, ok := DType(datatype)
	if datatype != Bytes && (!ok || d == tensor.Float16 || d == tensor.BFloat16) {
		return nil, fmt.Errorf("datatype %q: %w", datatype, ErrNoNumbers)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	raw := []byte{}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return raw, nil
		}
		if err != nil {
			return nil, err
		}
		switch v := token.(type) {
		case json.Delim:
			if v != '[' && v != ']' {
				return nil, fmt.Errorf("%q in data", v)
			}
			continue
		case bool:
			if d != tensor.Bool {
				return nil, fmt.Errorf("%v in data of %s", v, datatype)
			}
			raw = append(raw, map[bool]byte{true: 1}[v])
		case string:
			if datatype != Bytes {
				return nil, fmt.Errorf("a string in data of %s", datatype)
			}
			raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(v))), v...)
		case json.Number:
			if raw, err = appendNumber(raw, d, v.String()); err != nil {
				return nil, fmt.Errorf("%s in data of %s", v, datatype)
			}
		case nil:
			if d != tensor.Float32 && d != tensor.Float64 {
				return nil, fmt.Errorf("null in data of %s", datatype)
			}
			raw, _ = appendNumber(raw, d, "NaN")
		}
	}
}

// appendNumber appends an element of d, not of Bytes.
func appendNumber(raw []byte, d tensor.DType, s string) ([]byte, error) {
	bits := d.Bits()
	switch {
	case d == tensor.Float32 || d == tensor.Float64:
		v, err := strconv.ParseFloat(s, bits)
		if err != nil {
			return nil, err
		}
		if bits == 32 {
			return binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v))), nil
		}
		return binary.LittleEndian.AppendUint64(raw, math.Float64bits(v)), nil
	case d == tensor.Bool:
		if s != "0" && s != "1" {
			return nil, strconv.ErrSyntax
		}
		return append(raw, s[0]-'0'), nil
	case d.IsUnsigned():
		v, err := strconv.ParseUint(s, 10, bits)
		if err != nil {
			return nil, err
		}
		return appendLow(raw, d, v), nil
	case d.IsSigned():
		v, err := strconv.ParseInt(s, 10, bits)
		if err != nil {
			return nil, err
		}
		return appendLow(raw, d, uint64(v)), nil
	}
	return nil, strconv.ErrSyntax
}
