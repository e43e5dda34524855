package matrix_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestOperand_index(t *testing.T) {
	o := matrix.Operand{Rows: 4, Columns: 12, Tiling: matrix.Tiling{Outer: 2, Inner: 4, Segment: 8}}
	seen := map[int]bool{}
	for r := range 4 {
		for d := range 12 {
			seen[o.Index(r, d)] = true
		}
	}
	assert.Len(t, seen, 48)
	assert.Equal(t, 4*8+2*4+1*4+2, o.Index(3, 10), "the second segment has 4 columns: its second pair of rows begins at 8")
}

// Four rows of four elements, numbered in row-major order, in tiles of 2 x 2.
func TestRearrange(t *testing.T) {
	tiled := []byte{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}
	for _, c := range []struct {
		d    tensor.DType
		pack func(i byte) []byte // the bytes of element i; of Int4 those of i and i+1
	}{
		{tensor.Int8, func(i byte) []byte { return []byte{i} }},
		{tensor.Float16, func(i byte) []byte { return []byte{i, i + 100} }},
		{tensor.Float32, func(i byte) []byte { return []byte{i, i + 100, i + 50, 7} }},
	} {
		from := matrix.Operand{Type: c.d, Rows: 4, Columns: 4, Tiling: matrix.Tiling{Outer: 4, Inner: 4}}
		to := from
		to.Tiling, to.Data = matrix.Tiling{Outer: 2, Inner: 2}, make([]byte, from.Bytes())
		var want []byte
		for i := range tiled {
			from.Data, want = append(from.Data, c.pack(byte(i))...), append(want, c.pack(tiled[i])...)
		}
		matrix.Rearrange(&to, &from)
		assert.Equal(t, want, to.Data, "%v", c.d)
	}
	from := matrix.Operand{Type: tensor.Int4, Rows: 4, Columns: 4, Tiling: matrix.Tiling{Outer: 4, Inner: 4}}
	from.Data = []byte{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}
	to := from
	to.Tiling, to.Data = matrix.Tiling{Outer: 2, Inner: 2}, []byte{255, 255, 255, 255, 255, 255, 255, 255}
	matrix.Rearrange(&to, &from)
	assert.Equal(t, []byte{0x10, 0x54, 0x32, 0x76, 0x98, 0xdc, 0xba, 0xfe}, to.Data)
}

func TestProduct_checkRefusesSizesThatDoNotFit(t *testing.T) {
	operand := func(d tensor.DType, rows, columns int) matrix.Operand {
		o := matrix.Operand{Type: d, Rows: rows, Columns: columns,
			Tiling: matrix.Tiling{Outer: rows, Inner: columns}}
		o.Data = make([]byte, o.Bytes())
		return o
	}
	p := matrix.Product{A: operand(tensor.Int8, 2, 4), B: operand(tensor.Int8, 3, 4), C: operand(tensor.Int32, 2, 3)}
	assert.NotPanics(t, p.Check)
	p.ScaleB = make([]float32, 2)
	assert.Panics(t, p.Check)
	p.ScaleB = nil
	p.C.Data = p.C.Data[1:]
	assert.Panics(t, p.Check)
}
