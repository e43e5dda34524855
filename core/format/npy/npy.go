// Package npy writes tensors in NumPy's .npy format (numpy.lib.format), version 1, little-endian, C order. Package
// internal/npy reads them.
package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Magic is how a file begins.
const Magic = "\x93NUMPY"

// Types are the element types by the names that the format has for them.
var Types = map[string]tensor.DType{
	"|b1": tensor.Bool, "|i1": tensor.Int8, "|u1": tensor.Uint8, "<i2": tensor.Int16, "<u2": tensor.Uint16,
	"<i4": tensor.Int32, "<u4": tensor.Uint32,
	"<i8": tensor.Int64, "<u8": tensor.Uint64, "<f2": tensor.Float16, "<f4": tensor.Float32, "<f8": tensor.Float64,
	"<c8": tensor.Complex64, "<c16": tensor.Complex128,
}

// Write writes t. bfloat16, float8 and 4-bit types have no NumPy type and are refused.
func Write(w io.Writer, t tensor.Tensor) error {
	header, err := Header(t)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return fault.As(fault.File, err, "write")
	}
	_, err = w.Write(t.Data)
	return fault.As(fault.File, err, "write")
}

// Header returns the bytes before the elements in a file of t. Kind fault.Unsupported for types that NumPy does not
// have.
func Header(t tensor.Tensor) ([]byte, error) {
	descr := ""
	for k, d := range Types {
		if d == t.DType {
			descr = k
		}
	}
	if descr == "" {
		return nil, fault.New(fault.Unsupported, ".npy has no element type for %v", t.DType)
	}
	dims := make([]string, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = strconv.FormatInt(d, 10)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	pad := 64 - (len(Magic)+4+len(header)+1)%64
	header += strings.Repeat(" ", pad%64) + "\n"
	if len(header) > 1<<16-1 {
		return nil, fault.New(fault.Argument, "%d dimensions", len(t.Dims))
	}
	b := append([]byte(Magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	return append(b, header...), nil
}
