// Package npy reads and writes tensors in NumPy's .npy format, versions 1 to 3 (numpy.lib.format), little-endian, C
// order.
package npy

import (
	"bufio"
	"encoding/binary"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/npy"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// MaxBytes bounds the data of a file that Read takes.
const MaxBytes = 1 << 34

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
	if _, err := io.ReadFull(br, head); err != nil || string(head[:6]) != npy.Magic {
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
	d, ok := npy.Types[descr[1]]
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

// Write writes t as npy.Write of core/format/npy does.
func Write(w io.Writer, t tensor.Tensor) error { return npy.Write(w, t) }
