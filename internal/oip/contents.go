package oip

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/tensor"
)

// maxElements bounds the elements of typed contents; the message's own size bounds them sooner.
const maxElements = math.MaxInt32

func (c *Contents) parse(what string, b []byte) error {
	return each(what, b, func(f field) error {
		switch f.num {
		case 1:
			return f.numbers(what, protowire.VarintType, len(c.Bool), maxElements,
				func(v uint64) { c.Bool = append(c.Bool, v != 0) })
		case 2:
			return f.numbers(what, protowire.VarintType, len(c.Int), maxElements,
				func(v uint64) { c.Int = append(c.Int, int32(v)) })
		case 3:
			return f.numbers(what, protowire.VarintType, len(c.Int64), maxElements,
				func(v uint64) { c.Int64 = append(c.Int64, int64(v)) })
		case 4:
			return f.numbers(what, protowire.VarintType, len(c.Uint), maxElements,
				func(v uint64) { c.Uint = append(c.Uint, uint32(v)) })
		case 5:
			return f.numbers(what, protowire.VarintType, len(c.Uint64), maxElements,
				func(v uint64) { c.Uint64 = append(c.Uint64, v) })
		case 6:
			return f.numbers(what, protowire.Fixed32Type, len(c.FP32), maxElements,
				func(v uint64) { c.FP32 = append(c.FP32, math.Float32frombits(uint32(v))) })
		case 7:
			return f.numbers(what, protowire.Fixed64Type, len(c.FP64), maxElements,
				func(v uint64) { c.FP64 = append(c.FP64, math.Float64frombits(v)) })
		case 8:
			if err := f.want(what, protowire.BytesType); err != nil {
				return err
			}
			c.Bytes = append(c.Bytes, f.bytes)
		}
		return nil
	})
}

func (c *Contents) appendTo(b []byte) []byte {
	packed := func(num protowire.Number, n int, add func(b []byte, i int) []byte) {
		if n == 0 {
			return
		}
		var m []byte
		for i := range n {
			m = add(m, i)
		}
		b = appendMessage(b, num, m)
	}
	packed(1, len(c.Bool),
		func(b []byte, i int) []byte { return protowire.AppendVarint(b, protowire.EncodeBool(c.Bool[i])) })
	packed(2, len(c.Int),
		func(b []byte, i int) []byte { return protowire.AppendVarint(b, uint64(int64(c.Int[i]))) })
	packed(3, len(c.Int64),
		func(b []byte, i int) []byte { return protowire.AppendVarint(b, uint64(c.Int64[i])) })
	packed(4, len(c.Uint),
		func(b []byte, i int) []byte { return protowire.AppendVarint(b, uint64(c.Uint[i])) })
	packed(5, len(c.Uint64),
		func(b []byte, i int) []byte { return protowire.AppendVarint(b, c.Uint64[i]) })
	packed(6, len(c.FP32),
		func(b []byte, i int) []byte { return protowire.AppendFixed32(b, math.Float32bits(c.FP32[i])) })
	packed(7, len(c.FP64),
		func(b []byte, i int) []byte { return protowire.AppendFixed64(b, math.Float64bits(c.FP64[i])) })
	for _, s := range c.Bytes {
		b = appendMessage(b, 8, s)
	}
	return b
}

// AppendRaw appends the elements to b as raw contents of a datatype. It fails when another field than the datatype's
// holds elements, or one does not fit: FP16 and BF16 have no typed form.
func (c *Contents) AppendRaw(b []byte, datatype string) ([]byte, error) {
	counts := [...]int{len(c.Bool), len(c.Int), len(c.Int64), len(c.Uint), len(c.Uint64), len(c.FP32), len(c.FP64),
		len(c.Bytes)}
	home, ok := homes[datatype]
	if !ok {
		return nil, fmt.Errorf("datatype %q has no typed contents", datatype)
	}
	for i, n := range counts {
		if n > 0 && i != home {
			return nil, fmt.Errorf("datatype %s with %d typed elements of another type", datatype, n)
		}
	}
	le := binary.LittleEndian
	d, _ := DType(datatype)
	switch home {
	case 0:
		for _, v := range c.Bool {
			b = append(b, byte(protowire.EncodeBool(v)))
		}
	case 1:
		low, high := int64(math.MinInt32), int64(math.MaxInt32)
		switch d {
		case tensor.Int8:
			low, high = math.MinInt8, math.MaxInt8
		case tensor.Int16:
			low, high = math.MinInt16, math.MaxInt16
		}
		for _, v := range c.Int {
			if int64(v) < low || int64(v) > high {
				return nil, fmt.Errorf("%d does not fit %s", v, datatype)
			}
			b = appendLow(b, d, uint64(int64(v)))
		}
	case 2:
		for _, v := range c.Int64 {
			b = le.AppendUint64(b, uint64(v))
		}
	case 3:
		high := uint64(1)<<d.Bits() - 1
		for _, v := range c.Uint {
			if uint64(v) > high {
				return nil, fmt.Errorf("%d does not fit %s", v, datatype)
			}
			b = appendLow(b, d, uint64(v))
		}
	case 4:
		for _, v := range c.Uint64 {
			b = le.AppendUint64(b, v)
		}
	case 5:
		for _, v := range c.FP32 {
			b = le.AppendUint32(b, math.Float32bits(v))
		}
	case 6:
		for _, v := range c.FP64 {
			b = le.AppendUint64(b, math.Float64bits(v))
		}
	case 7:
		for _, v := range c.Bytes {
			b = append(le.AppendUint32(b, uint32(len(v))), v...)
		}
	}
	return b, nil
}

// homes holds the field of Contents, from 0, of each datatype that has typed contents.
var homes = map[string]int{"BOOL": 0, "INT8": 1, "INT16": 1, "INT32": 1, "INT64": 2, "UINT8": 3, "UINT16": 3,
	"UINT32": 3, "UINT64": 4, "FP32": 5, "FP64": 6, Bytes: 7}

// appendLow appends the low bytes of v, as many as an element of d has.
func appendLow(b []byte, d tensor.DType, v uint64) []byte {
	for range d.Bits() / 8 {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}
