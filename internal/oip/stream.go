package oip

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Placer returns the memory for raw content i (from 0, in the order of the message) of n bytes, of that length. had are
// the tensors read so far: all of them in messages written in the usual order. An error ends the reading.
type Placer func(had []Tensor, i int, n int64) ([]byte, error)

// ReadResponse reads a response of size bytes from r without holding it whole: each raw content goes to the memory that
// place names and is Raw of its output. A message that ends early is io.ErrUnexpectedEOF.
func ReadResponse(r io.Reader, size int64, place Placer) (*Response, error) {
	m := &Response{}
	raw, err := read("infer response", r, size, responseRaw, m.field, func(i int, n int64) ([]byte, error) {
		return place(m.Outputs, i, n)
	})
	if err != nil {
		return nil, err
	}
	return m, spread("infer response", m.Outputs, raw)
}

// ReadRequest reads a request of size bytes from r without holding it whole: each raw content goes to the memory that
// place names and is Raw of its input. A message that ends early is io.ErrUnexpectedEOF.
func ReadRequest(r io.Reader, size int64, place Placer) (*Request, error) {
	m := &Request{}
	raw, err := read("infer request", r, size, requestRaw, m.field, func(i int, n int64) ([]byte, error) {
		return place(m.Inputs, i, n)
	})
	if err != nil {
		return nil, err
	}
	return m, spread("infer request", m.Inputs, raw)
}

// read reads a message of size bytes: fields of number rawNum into memory that place returns, any other by parse.
func read(what string, r io.Reader, size int64, rawNum protowire.Number, parse func(field) error,
	place func(i int, n int64) ([]byte, error)) (raw [][]byte, err error) {
	b := bufio.NewReaderSize(io.LimitReader(r, size), 4096)
	left := size // bytes of the message not read yet
	number := func() (v uint64, err error) {
		for shift := 0; shift < 64; shift += 7 {
			c, err := b.ReadByte()
			if err != nil {
				return 0, short(err)
			}
			left--
			v |= uint64(c&0x7F) << shift
			if c < 0x80 {
				return v, nil
			}
		}
		return 0, fmt.Errorf("%s: a number of more than 10 bytes", what)
	}
	for left > 0 {
		tag, err := number()
		if err != nil {
			return nil, err
		}
		num, typ := protowire.DecodeTag(tag)
		if num < protowire.MinValidNumber {
			return nil, fmt.Errorf("%s: damaged field tag %d", what, tag)
		}
		f := field{num: num, typ: typ}
		n := int64(0) // bytes that follow
		switch typ {
		case protowire.VarintType:
			if f.value, err = number(); err != nil {
				return nil, err
			}
		case protowire.Fixed32Type:
			n = 4
		case protowire.Fixed64Type:
			n = 8
		case protowire.BytesType:
			v, err := number()
			if err != nil {
				return nil, err
			}
			if v > uint64(max(left, 0)) {
				return nil, fmt.Errorf("%s: field %d of %d bytes where %d are left", what, num, v, left)
			}
			n = int64(v)
		default:
			return nil, fmt.Errorf("%s: field %d has wire type %d", what, num, typ)
		}
		if num == rawNum && typ == protowire.BytesType {
			if len(raw) >= MaxTensors {
				return nil, fmt.Errorf("%s: more than %d raw contents", what, MaxTensors)
			}
			f.bytes, err = place(len(raw), n)
		} else {
			f.bytes, err = grow(b, n)
		}
		if err != nil {
			return nil, err
		}
		if num == rawNum && typ == protowire.BytesType {
			if _, err = io.ReadFull(b, f.bytes[:n]); err != nil {
				return nil, short(err)
			}
			raw = append(raw, f.bytes[:n])
		} else if err = parse(f); err != nil {
			return nil, err
		}
		left -= n
	}
	return raw, nil
}

// grow reads n bytes, into memory that grows with what arrives: a length that is said costs nothing.
func grow(r io.Reader, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	const step = 1 << 20
	b := make([]byte, 0, min(n, step))
	for int64(len(b)) < n {
		from := len(b)
		if from == cap(b) {
			b = append(b, make([]byte, min(n-int64(from), int64(from)))...)
		} else {
			b = b[:min(int64(cap(b)), n)]
		}
		if _, err := io.ReadFull(r, b[from:]); err != nil {
			return nil, short(err)
		}
	}
	return b, nil
}

func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
