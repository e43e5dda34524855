package matmul_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/matmul"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/tensor"
)

var types = []struct{ a, b, c tensor.DType }{
	{tensor.Float16, tensor.Float16, tensor.Float32}, {tensor.Float16, tensor.Float16, tensor.Float16},
	{tensor.Float16, tensor.Int8, tensor.Float32}, {tensor.Float16, tensor.Int8, tensor.Float16},
	{tensor.Float16, tensor.Int4, tensor.Float32}, {tensor.Float16, tensor.Int4, tensor.BFloat16},
	{tensor.Int8, tensor.Int8, tensor.Int32}, {tensor.Int8, tensor.Int8, tensor.Int8},
	{tensor.Int8, tensor.Int8, tensor.Float32},
	{tensor.Int4, tensor.Int4, tensor.Int16}, {tensor.Int8, tensor.Int4, tensor.Int32},
	{tensor.Int8, tensor.Int4, tensor.Float16},
}

// operand has elements in the given tiling.
func operand(t tensor.DType, rows, columns int, tiling matrix.Tiling) matrix.Operand {
	o := matrix.Operand{Type: t, Rows: rows, Columns: columns, Tiling: tiling}
	o.Data = make([]byte, o.Bytes())
	return o
}

func workers(t *testing.T, threads int) *cpu.Workers {
	d, err := cpu.New(cpu.Config{Threads: threads})
	require.NoError(t, err)
	w := d.Workers(device.PriorityDefault)
	t.Cleanup(w.Release)
	return w
}

// fill gives bytes that are small numbers in every type: reals are multiples of 1/64 below 8, so that their sums are
// exact.
func fill(r *rand.Rand, o *matrix.Operand) {
	for i := range o.Data {
		o.Data[i] = byte(r.Uint32())
	}
	if o.Type == tensor.Float16 {
		for i := 0; i < len(o.Data); i += 2 {
			binary.LittleEndian.PutUint16(o.Data[i:], tensor.Float32To16(float32(r.IntN(1023)-511)/64))
		}
	}
}

// Kernels and plain loops give the same bytes: every sum here is exact in float32.
func TestRun_equalsReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w := workers(t, 2)
	const m, k, n = 2, 1152, 64
	list := types
	if testing.Short() { // for the race detector: threads divide every type alike
		list = types[:1]
	}
	for _, c := range list {
		for name, params := range map[string]matrix.Product{
			"none":    {ScaleA: 1, ScaleC: 1},
			"layer":   {ScaleA: 0.5, ScaleC: 2500, ScaleB: []float32{0.3}, ZeroB: []int32{3}, ZeroA: 2, ZeroC: -5},
			"channel": {ScaleA: 0.5, ScaleC: 2500, ScaleB: series(n), ZeroB: zeros(n)},
			"group":   {ScaleA: 0.5, ScaleC: 2500, ScaleB: series(n * k / 36), ZeroB: zeros(n * k / 36), Group: 36},
		} {
			for i, b := range []matrix.Tiling{{Outer: n, Inner: k}, {Outer: n, Inner: 1}, {Outer: 16, Inner: 32},
				{Outer: 32, Inner: 32, Segment: 512}} {
				p := params
				p.A = operand(c.a, m, k, []matrix.Tiling{{Outer: m, Inner: k}, {Outer: m, Inner: 8}}[i%2])
				p.B = operand(c.b, n, k, b)
				p.C = operand(c.c, m, n, []matrix.Tiling{{Outer: m, Inner: n}, {Outer: m, Inner: 4}}[i%2])
				if c.a == tensor.Float16 {
					p.ZeroA = 0
				}
				fill(r, &p.A)
				fill(r, &p.B)
				require.NoError(t, matmul.Run(context.Background(), &p, w))
				got := p.C.Data
				p.C.Data = make([]byte, len(got))
				matmul.Reference(&p)
				assert.Equal(t, p.C.Data, got, "%v %s %d", c, name, i)
			}
		}
	}
}

func series(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(i%7+1) / 16
	}
	return s
}

func zeros(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i%5 - 2)
	}
	return s
}

// The reference against closed forms.
func TestReference_closedForm(t *testing.T) {
	const k = 480
	for _, c := range []struct {
		a, b byte
		c    tensor.DType
		want string
	}{
		{0x80, 0x80, tensor.Int32, fmt.Sprint(k * 128 * 128)},
		{0x7f, 0x80, tensor.Int32, fmt.Sprint(-k * 127 * 128)},
		{0x80, 0x80, tensor.Int8, "127"},
		{0x7f, 0x80, tensor.Int8, "-128"},
		{0x02, 0x03, tensor.Float32, fmt.Sprint(float32(k * 6))},
		{0x7f, 0x7f, tensor.Float16, fmt.Sprint(float32(math.Inf(1)))},
	} {
		p := matrix.Product{ScaleA: 1, ScaleC: 1, A: operand(tensor.Int8, 1, k, matrix.Tiling{Outer: 1, Inner: k}),
			B: operand(tensor.Int8, 1, k, matrix.Tiling{Outer: 1, Inner: k}),
			C: operand(c.c, 1, 1, matrix.Tiling{Outer: 1, Inner: 1})}
		for i := range k {
			p.A.Data[i], p.B.Data[i] = c.a, c.b
		}
		matmul.Reference(&p)
		assert.Equal(t, c.want, show(&p.C, 0), "%v", c)
	}
}

func show(o *matrix.Operand, i int) string {
	switch o.Type {
	case tensor.Int8:
		return fmt.Sprint(int8(o.Data[i]))
	case tensor.Int16:
		return fmt.Sprint(int16(binary.LittleEndian.Uint16(o.Data[2*i:])))
	case tensor.Float16:
		return fmt.Sprint(tensor.Float16To32(binary.LittleEndian.Uint16(o.Data[2*i:])))
	case tensor.Int32:
		return fmt.Sprint(int32(binary.LittleEndian.Uint32(o.Data[4*i:])))
	}
	return fmt.Sprint(math.Float32frombits(binary.LittleEndian.Uint32(o.Data[4*i:])))
}

// A sum between two float16 numbers that float32 would take for their middle is rounded once.
func TestReference_roundsOnce(t *testing.T) {
	const k = 3
	p := matrix.Product{ScaleA: 1, ScaleC: 1, A: operand(tensor.Float16, 1, k, matrix.Tiling{Outer: 1, Inner: k}),
		B: operand(tensor.Float16, 1, k, matrix.Tiling{Outer: 1, Inner: k}), C: operand(tensor.Float16, 1, 1,
			matrix.Tiling{Outer: 1, Inner: 1})}
	for i, v := range []float32{2048, 1, 0x1p-14} { // 2049 lies in the middle of 2048 and 2050; the rest decides
		binary.LittleEndian.PutUint16(p.A.Data[2*i:], tensor.Float32To16(v))
		binary.LittleEndian.PutUint16(p.B.Data[2*i:], tensor.Float32To16(1))
	}
	matmul.Reference(&p)
	assert.Equal(t, "2050", show(&p.C, 0))
}

func BenchmarkRun(b *testing.B) {
	d, err := cpu.New(cpu.Config{})
	require.NoError(b, err)
	w := d.Workers(device.PriorityDefault)
	defer w.Release()
	for _, s := range [][3]int{{1, 4096, 4096}, {512, 1024, 1024}} {
		for i, c := range types {
			p := matrix.Product{ScaleA: 1, ScaleC: 1, A: operand(c.a, s[0], s[1], matrix.Tiling{Outer: s[0], Inner: s[1]}),
				B: operand(c.b, s[2], s[1], matrix.Tiling{Outer: 32, Inner: 32}),
				C: operand(c.c, s[0], s[2], matrix.Tiling{Outer: s[0], Inner: s[2]})}
			b.Run(fmt.Sprint(s, i, c), func(b *testing.B) {
				for b.Loop() {
					_ = matmul.Run(context.Background(), &p, w)
				}
				b.ReportMetric(2*float64(s[0]*s[1]*s[2])*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
			})
		}
	}
}
