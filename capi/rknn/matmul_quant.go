package rknn

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// matrixOf is the index of the matrix that a name in a program's struct stands for, -1 if none.
func matrixOf(name *[spec.MaxNameLen]byte) int { return slices.Index(matrixNames[:], textOf(name[:])) }

// matmulSetQuantParams copies scales and zero points of one matrix; another call for it replaces them (matmul notes,
// section 5). Their numbers say what they belong to: 1 the matrix, N a column of B each, N*K/group_size a group of rows
// and a column.
func matmulSetQuantParams(m *Matmul, q *QuantParams) error {
	i := matrixOf(&q.name)
	if i < 0 {
		return invalid("params->name is %q: want A, B or C [rknn-params-name-b]", textOf(q.name[:]))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.fits(i, int(q.scales)) {
		return invalid("params->scale_len is %d: matrix %s of %s takes %s "+
			"[rknn-params-scale-len]", q.scales, matrixNames[i], m.spec.name,
			m.lengths(i))
	}
	if q.scale == 0 {
		return invalid("params->scale is NULL: want %d scales [rknn-params-scale-null]", q.scales)
	}
	zeros := int(q.zps)
	if q.zp == 0 {
		zeros = 0
	}
	if zeros != 0 && !m.fits(i, zeros) {
		return invalid("params->zp_len is %d: matrix %s of %s takes 0, %s "+
			"[rknn-params-zp-len]", q.zps, matrixNames[i], m.spec.name, m.lengths(i))
	}
	scale, err := copied[float32]("params->scale", q.scale, int(q.scales))
	if err != nil {
		return err
	}
	zero, err := copied[int32]("params->zp", q.zp, zeros)
	if err != nil {
		return err
	}
	if err := m.checkValues(i, scale, zero); err != nil {
		return err
	}
	m.params[i] = matmulParams{scale, zero}
	return nil
}

// fits says whether so many parameters can belong to matrix i in one of the context's sizes.
func (m *Matmul) fits(i, n int) bool {
	return n == 1 || n > 1 && i == 1 && slices.ContainsFunc(m.shapes, func(s MatmulShape) bool { return m.fitsB(n, s) })
}

// fitsB says whether so many parameters can belong to B of a size.
func (m *Matmul) fitsB(n int, s MatmulShape) bool {
	return n <= 1 || n == int(s.n) || m.spec.group != 0 && n == int(s.n)*(int(s.k)/m.spec.group)
}

// lengths says how many parameters matrix i takes, in the current size.
func (m *Matmul) lengths(i int) string {
	s := m.shapes[m.current]
	switch {
	case i != 1:
		return "1"
	case m.spec.group != 0:
		return fmt.Sprintf("1, N = %d, or N*K/group_size = %d", s.n, int(s.n)*(int(s.k)/m.spec.group))
	}
	return fmt.Sprintf("1 or N = %d", s.n)
}

// checkValues refuses numbers that quantize nothing.
func (m *Matmul) checkValues(i int, scale []float32, zero []int32) error {
	for k, v := range scale {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) || i == 2 && v == 0 {
			return invalid("params->scale[%d] is %v: want a finite number, and for C not 0 "+
				"[rknn-params-scale-finite]", k, v)
		}
	}
	t := m.spec.types[i].MatrixType()
	if t != tensor.Int8 && t != tensor.Int4 {
		return nil
	}
	limit := int32(1) << (t.Bits() - 1)
	for k, v := range zero {
		if v < -limit || v >= limit {
			return invalid("params->zp[%d] is %d: want a value of %v, %d to %d "+
				"[rknn-params-zp-value]", k, v, m.spec.types[i], -limit, limit-1)
		}
	}
	return nil
}

// copied copies n values of the program.
func copied[T any](name string, addr uintptr, n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	at := cPointer(addr)
	if err := boundary.CheckRange(at, uint64(n)*uint64(unsafe.Sizeof(*new(T)))); err != nil {
		return nil, fault.Wrap(err, "%s", name)
	}
	values, err := mem.Clone(unsafe.Slice((*T)(at), n))
	return values, fault.Wrap(err, "%s", name)
}

// matmulGetQuantParams gives one scale for all of B: the largest of them by magnitude, so that values brought to it
// stay within their type. The parameters are given as well where the program has room for them.
func matmulGetQuantParams(m *Matmul, q *QuantParams, scale *float32) error {
	if name := textOf(q.name[:]); name != "" && name != "B" {
		return invalid("params->name is %q: want B [rknn-quant-params-name-b]", name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.params[1]
	largest := float32(1)
	if len(b.scale) > 0 {
		largest = 0
		for _, v := range b.scale {
			largest = max(largest, v, -v)
		}
	}
	if err := give("params->scale", q.scale, &q.scales, b.scale); err != nil {
		return err
	}
	if err := give("params->zp", q.zp, &q.zps, b.zero); err != nil {
		return err
	}
	*scale = largest
	return nil
}

// give stores values in the program's array if there is one that is long enough, and then their number.
func give[T any](name string, addr uintptr, n *int32, values []T) error {
	if addr == 0 || len(values) == 0 || int(*n) < len(values) {
		return nil
	}
	at := cPointer(addr)
	if err := boundary.CheckRange(at, uint64(len(values))*uint64(unsafe.Sizeof(*new(T)))); err != nil {
		return fault.Wrap(err, "%s", name)
	}
	copy(unsafe.Slice((*T)(at), len(values)), values)
	*n = int32(len(values))
	return nil
}
