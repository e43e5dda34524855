package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/tensor"
)

// matrices checks products of a device that multiplies matrices: numbers, other tilings, a context that is canceled.
func matrices(s *Subject) error {
	d, ok := s.Device.(device.MatrixMultiplier)
	if !ok {
		return skipped("the device multiplies no matrices")
	}
	m := d.Multiplier(device.PriorityDefault)
	defer m.Release()
	const rows, columns, depth = 3, 4, 8
	a := signed(rows, depth, matrix.Tiling{Outer: rows, Inner: depth})
	b := signed(columns, depth, matrix.Tiling{Outer: columns, Inner: depth})
	for r := range depth {
		for i := range rows {
			a.Data[a.Index(i, r)] = byte(int8(17*i - 11*r))
		}
		for k := range columns {
			b.Data[b.Index(k, r)] = byte(int8(5*k - 3*r))
		}
	}
	tiled := signed(columns, depth, matrix.Tiling{Outer: 2, Inner: 4})
	matrix.Rearrange(&tiled, &b)
	for _, b := range []matrix.Operand{b, tiled} {
		p := &matrix.Product{A: a, B: b, C: matrix.Operand{Type: tensor.Int32, Rows: rows, Columns: columns,
			Tiling: matrix.Tiling{Outer: rows, Inner: columns}}, ScaleA: 1, ScaleC: 1, ZeroA: 2,
			ZeroB: matrix.Params[int32]{-1, 0, 1, 2}}
		p.C.Data = make([]byte, p.C.Bytes())
		if err := m.Multiply(context.Background(), p); err != nil {
			return err
		}
		got, err := tensor.ReadInts(tensor.Int32, p.C.Data, rows*columns)
		if err != nil {
			return err
		}
		var want []int64
		for i := range rows {
			for k := range columns {
				sum := int64(0)
				for r := range depth {
					sum += int64(17*i-11*r-2) * int64(5*k-3*r-(k-1))
				}
				want = append(want, sum)
			}
		}
		if !slices.Equal(want, got) {
			return fmt.Errorf("with B in tiles of %v: C is %v, want %v", b.Tiling, got, want)
		}
		over, cancel := context.WithCancel(context.Background())
		cancel()
		if err := m.Multiply(over, p); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("with a canceled context: %v", err)
		}
	}
	return nil
}

// signed is a matrix of Int8.
func signed(rows, columns int, t matrix.Tiling) matrix.Operand {
	o := matrix.Operand{Type: tensor.Int8, Rows: rows, Columns: columns, Tiling: t}
	o.Data = make([]byte, o.Bytes())
	return o
}
