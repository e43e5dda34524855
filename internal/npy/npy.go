// Package npy reads and writes tensors in NumPy's .npy format, versions 1 to 3 (numpy.lib.format), little-endian, C
// order.
package npy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

const magic = "\x93NUMPY"

// MaxBytes bounds the data of a file that Read takes.
const MaxBytes = 1 << 34

var descrs = map[string]tensor.DType{
	"|b1": tensor.Bool, "|i1": tensor.Int8, "|u1": tensor.Uint8, "<i2": tensor.Int16, "<u2": tensor.Uint16,
	"<i4": tensor.Int32, "<u4": tensor.Uint32,
	"<i8": tensor.Int64, "<u8": tensor.Uint64, "<f2": tensor.Float16, "<f4": tensor.Float32, "<f8": tensor.Float64,
	"<c8": tensor.Complex64, "<c16": tensor.Complex128,
}

var (
	descrField   = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	fortranField = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	shapeField   = regexp.MustCompile(`'shape':\s*\(([^)]*)\)`)
)

// Read reads one array. Errors are of kind fault.File and say what was met.
func Read(r io.Reader) (tensor.Tensor, error) {
	return ReadIf(r, func(tensor.Tensor) error { return nil })
}

// ReadIf is Read of an array that accept, which is given it without its data, has no error for.
func ReadIf(r io.Reader, accept func(tensor.Tensor) error) (tensor.Tensor, error) {
	var none tensor.Tensor
	br := bufio.NewReader(r)
	head := make([]byte, 8)
	if _, err := io.ReadFull(br, head); err != nil || string(head[:6]) != magic {
		return none, fault.New(fault.File, "not a .npy file")
	}
	var size uint32
	switch head[6] {
	case 1:
		var n uint16
		if err := binary.Read(br, binary.LittleEndian, &n); err != nil {
			return none, fault.New(fault.File, "the header is cut off")
		}
		size = uint32(n)
	case 2, 3:
		if err := binary.Read(br, binary.LittleEndian, &size); err != nil {
			return none, fault.New(fault.File, "the header is cut off")
		}
	default:
		return none, fault.New(fault.File, "format version %d, want 1 to 3", head[6])
	}
	if size > 1<<20 {
		return none, fault.New(fault.File, "a header of %d bytes", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(br, text); err != nil {
		return none, fault.New(fault.File, "the header is cut off")
	}
	t, err := parseHeader(string(text))
	if err != nil {
		return none, err
	}
	n, ok := t.Type().ByteSize()
	if !ok || n > MaxBytes {
		return none, fault.New(fault.File, "an array of shape %v is too large", t.Dims)
	}
	if err := accept(t); err != nil {
		return none, err
	}
	if err := mem.Fits(n); err != nil {
		return none, err
	}
	// Grow with what is really there: a header may promise more than the file holds.
	data, err := io.ReadAll(io.LimitReader(br, n))
	if err != nil {
		return none, fault.As(fault.File, err, "read")
	}
	if int64(len(data)) != n {
		return none, fault.New(fault.File, "%v needs %d bytes, the file holds %d", t.Type(), n, len(data))
	}
	t.Data = data
	return t, nil
}

func parseHeader(text string) (t tensor.Tensor, err error) {
	descr, fortran, shape := descrField.FindStringSubmatch(text), fortranField.FindStringSubmatch(text),
		shapeField.FindStringSubmatch(text)
	if descr == nil || fortran == nil || shape == nil {
		return t, fault.New(fault.File, "the header lacks descr, fortran_order or shape")
	}
	d, ok := descrs[descr[1]]
	if !ok {
		return t, fault.New(fault.File, "element type %q is not read", descr[1])
	}
	t.DType, t.Dims = d, []int64{}
	for _, s := range strings.Split(shape[1], ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		v, err := strconv.ParseInt(strings.TrimSuffix(s, "L"), 10, 64)
		if err != nil || v < 0 || len(t.Dims) == 64 {
			return t, fault.New(fault.File, "shape (%s)", shape[1])
		}
		t.Dims = append(t.Dims, v)
	}
	if fortran[1] == "True" && len(t.Dims) > 1 {
		return t, fault.New(fault.File, "the array is in Fortran order; save numpy.ascontiguousarray of it")
	}
	return t, nil
}

// Write writes t as format version 1. bfloat16, float8 and 4-bit types have no NumPy type and are refused.
func Write(w io.Writer, t tensor.Tensor) error {
	descr := ""
	for k, d := range descrs {
		if d == t.DType {
			descr = k
		}
	}
	if descr == "" {
		return fault.New(fault.Unsupported, ".npy has no element type for %v", t.DType)
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
	pad := 64 - (len(magic)+4+len(header)+1)%64
	header += strings.Repeat(" ", pad%64) + "\n"
	if len(header) > 1<<16-1 {
		return fault.New(fault.Argument, "%d dimensions", len(t.Dims))
	}
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	if _, err := w.Write(b); err != nil {
		return fault.As(fault.File, err, "write")
	}
	_, err := w.Write(t.Data)
	return fault.As(fault.File, err, "write")
}
