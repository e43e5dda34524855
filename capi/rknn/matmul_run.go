package rknn

import (
	"context"
	"slices"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// matmulSetIoMem binds memory to the matrix that attr names, until other memory is bound to it (matmul notes, section
// 6). Nothing is copied: a run reads A and B as they are then.
func matmulSetIoMem(m *Matmul, memAt *spec.TensorMem, attr *spec.MatmulTensorAttr) error {
	r := memories.find(memAt)
	if r == nil {
		return invalid("mem is %p: no memory of this library, or one that was destroyed "+
			"[rknn-mem-no-memory-library]", memAt)
	}
	i := matrixOf(&attr.Name)
	if i < 0 {
		return invalid("attr->name is %q: want A, B or C, as rknn_matmul_create gives it "+
			"[rknn-attr-name-b]", textOf(attr.Name[:]))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	have, need := r.buf.Size(), m.least(i)
	switch {
	case have < int64(attr.Size):
		return invalid("mem has %d bytes: attr->size says that matrix %s takes %d "+
			"[rknn-mem-bytes-attr]", have, matrixNames[i], attr.Size)
	case have < need:
		return invalid("mem has %d bytes: matrix %s takes %d [rknn-mem-bytes-matrix]", have, matrixNames[i], need)
	}
	m.bound[i] = r
	return nil
}

// least is the size of matrix i in the context's size in which it is smallest.
func (m *Matmul) least(i int) int64 {
	n := m.spec.bytes(m.shapes[0], i)
	for _, s := range m.shapes {
		n = min(n, m.spec.bytes(s, i))
	}
	return n
}

// matmulRun computes C from A and B and returns when it is done. Memory of C may overlap that of A and B.
func matmulRun(m *Matmul) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.shapes[m.current]
	p, err := m.product(s)
	if err != nil {
		return err
	}
	for i := range m.bound {
		if m.bound[i] == nil {
			return failed("ctx: matrix %s has no memory: call rknn_matmul_set_io_mem first "+
				"[rknn-ctx-matrix-no]", matrixNames[i])
		}
	}
	m.dump(p, s)
	return guarded("ctx: memory bound to a matrix", func() error {
		operands := [3]*matrix.Operand{&p.A, &p.B, &p.C}
		var buffers [3]mem.Buffer
		for i, r := range m.bound {
			buf := memories.use(r)
			if buf == nil {
				m.bound[i] = nil
				return failed("ctx: the memory bound to matrix %s was destroyed: bind other memory with "+
					"rknn_matmul_set_io_mem [rknn-ctx-memory-bound]",
					matrixNames[i])
			}
			defer buf.Release()
			data, err := buf.Map()
			if err != nil {
				return err
			}
			need := m.spec.bytes(s, i)
			if int64(len(data)) < need {
				return failed("ctx: matrix %s has memory of %d bytes: M, K, N = %d, %d, %d takes %d "+
					"[rknn-ctx-matrix-memory]", matrixNames[i], len(data),
					s.m, s.k, s.n, need)
			}
			operands[i].Data, buffers[i] = data[:need], buf
		}
		for i, o := range operands[:2] {
			if mem.Aliases(buffers[i], 0, int64(len(o.Data)), buffers[2], 0, int64(len(p.C.Data))) {
				var err error
				if o.Data, err = mem.Clone(o.Data); err != nil {
					return fault.Wrap(err, "matrix %s", matrixNames[i])
				}
			}
		}
		begin := time.Now()
		err := exec.Within(m.ctx, func(ctx context.Context) error { return m.compute.Multiply(ctx, p) })
		if err != nil && m.ctx.Err() != nil {
			err = refuseFor(spec.ErrContext, err, "ctx: it was destroyed during the run [rknn-ctx-destroyed-run]")
		}
		if note := m.counted(); note != nil {
			note(time.Since(begin), err)
		}
		return err
	})
}

// dump writes the product as a graph when ANYNPU_DUMP asks for it, once for each size. One that is no graph is logged
// at the level info.
func (m *Matmul) dump(p *matrix.Product, s MatmulShape) {
	if compile.Dump == nil || slices.Contains(m.dumped, s) {
		return
	}
	m.dumped = append(m.dumped, s)
	g, err := p.Graph("rknn_matmul")
	if err != nil {
		boundary.Log(boundary.LevelInfo, "rknn", "a product is not written to ANYNPU_DUMP", "error", err)
		return
	}
	compile.Dump.Graph(g)
}

// product describes the product in a size, without the bytes of its matrices. Sums that are given as integers of 16 and
// 32 bits, and products of reals, have no scales and zero points (matmul notes, section 8).
func (m *Matmul) product(s MatmulShape) (*matrix.Product, error) {
	p := &matrix.Product{A: m.spec.operand(s, 0), B: m.spec.operand(s, 1), C: m.spec.operand(s, 2), ScaleA: 1, ScaleC: 1,
		Group: m.spec.group}
	t := m.spec.types
	if t[2] == spec.Int32 || t[2] == spec.Int16 || t[1] == spec.Float16 {
		return p, nil
	}
	a, b, c := m.params[0], m.params[1], m.params[2]
	for what, n := range map[string]int{"scales": len(b.scale), "zero points": len(b.zero)} {
		if !m.fitsB(n, s) {
			return nil, failed("ctx: matrix B has %d %s: M, K, N = %d, %d, %d takes %s; set them again after "+
				"rknn_matmul_set_dynamic_shape [rknn-ctx-matrix-b]", n, what, s.m, s.k, s.n, m.lengths(1))
		}
	}
	p.ScaleB, p.ZeroB = b.scale, b.zero
	p.ScaleA, p.ScaleC = first(a.scale, 1), first(c.scale, 1)
	if t[0] != spec.Float16 {
		p.ZeroA = first(a.zero, 0)
	}
	if t[2] == spec.Int8 {
		p.ZeroC = first(c.zero, 0)
	}
	return p, nil
}

func first[T any](values matrix.Params[T], otherwise T) T {
	if len(values) == 0 {
		return otherwise
	}
	return values[0]
}
